import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCondition } from "../../packages/config/src/condition/parse.ts";
import { InvalidValue } from "../../packages/config/src/schema/codec.ts";
import { evaluateCondition } from "../../packages/core/src/hooks/evaluate-condition.ts";
import { finishedJob, outcomeOf } from "./finished-job.ts";

const job = finishedJob({
  status: "failed",
  outcome: outcomeOf("timeout"),
  cost_usd: 1.5,
  schedule: "nightly",
  metadata: { price: 19, ok: true, name: "A-1", deep: { list: [1] }, none: null, zero: 0 },
});

const evaluateText = (text: string, of = job) => {
  const condition = parseCondition(text);
  if (condition instanceof InvalidValue) throw new Error(condition.message);
  return evaluateCondition(condition, of);
};

describe("hook conditions", () => {
  test.each<[string, boolean]>([
    ["cost_usd > 1 and metadata.price < 20", true],
    ["cost_usd > 1 and metadata.price < 19", false],
    ["cost_usd >= 1.5 and cost_usd <= 1.5", true],
    ["outcome == timeout", true],
    ['outcome != "timeout"', false],
    ["outcome == 'timeout' or cost_usd > 100", true],
    ["not outcome == timeout", false],
    ["not (outcome == success or status == completed)", true],
    // `and` binds closer than `or`.
    ["outcome == timeout or outcome == success and cost_usd > 100", true],
    ["(outcome == timeout or outcome == success) and cost_usd > 100", false],
    ["metadata.ok", true],
    ["metadata.ok == true", true],
    ["metadata.zero", false],
    ["metadata.deep", true],
    ["metadata.deep.list", true],
    ["metadata.missing", false],
    ["metadata.missing == null", true],
    ["metadata.none == null", true],
    ["metadata.missing < 5", false],
    ["metadata.missing >= 0", false],
    ["metadata.name < 5", false],
    ["metadata.name == A-1", true],
    ["metadata.price == '19'", false],
    ["attempts == 1 and agent == one and schedule == nightly and trigger == manual", true],
    ["duration_seconds > -1", true],
    ["metadata.constructor", false],
    ["metadata.__proto__", false],
    ["metadata.toString == null", true],
  ])("evaluates %s", (text, expected) => {
    expect(evaluateText(text)).toBe(expected);
  });

  test("fires nothing for unknown cost or metadata", () => {
    const bare = finishedJob({ cost_usd: null, metadata: null });
    expect(evaluateText("cost_usd > 0", bare)).toBe(false);
    expect(evaluateText("cost_usd < 1", bare)).toBe(false);
    expect(evaluateText("metadata.price == null", bare)).toBe(true);
  });

  test.each<[string, string, string]>([
    ["", "ends too early", "Name one of"],
    ["cost_usd >", "ends too early", "or a value"],
    ["cost > 1", "unknown name `cost`", "cost_usd"],
    ["cost_usd = 1", "`=` at column 10", "=="],
    ["cost_usd > 1 && metadata.ok", "`&` at column 14", "`and`"],
    ["cost_usd > 1 || true", "`|`", "`or`"],
    ["!metadata.ok", "`!`", "`not`"],
    ["(cost_usd > 1", "`)` is missing", "Close"],
    ["cost_usd > 1)", "unexpected `)`", "Join"],
    ["cost_usd > 1 metadata.ok", "`metadata.ok` at column 14", "Join"],
    ["outcome == 'time", "no closing quote", "comparison"],
    ["outcome.code == x", "unknown name `outcome.code`", "outcome"],
    ["process.exit(1)", "unknown name `process.exit`", "Use one of"],
    ["cost_usd > 1; true", "`;`", "comparison"],
    ["x".repeat(2000), "too long", "shell"],
    [`${"(".repeat(60)}true${")".repeat(60)}`, "nested too deeply", "shell"],
  ])("refuses %s with a message", (text, message, hint) => {
    const wrong = parseCondition(text);
    expect(wrong).toBeInstanceOf(InvalidValue);
    expect((wrong as InvalidValue).message).toContain(message);
    expect((wrong as InvalidValue).hint).toContain(hint);
  });

  test("refuses or evaluates any text", () => {
    const word = fc.constantFrom(
      ..."cost_usd metadata.a metadata outcome and or not ( ) == != < <= > >= 1 'x' true null @".split(
        " ",
      ),
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 12 }).map((all) => all.join(" ")),
    );
    fc.assert(
      fc.property(texts, fc.dictionary(fc.string(), fc.anything()), (text, metadata) => {
        const condition = parseCondition(text);
        if (condition instanceof InvalidValue) return condition.hint.length > 0;
        return typeof evaluateCondition(condition, finishedJob({ metadata })) === "boolean";
      }),
    );
  });
});
