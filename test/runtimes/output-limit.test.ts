import { describe, expect, test } from "vitest";
import { OutputGate } from "../../packages/core/src/runner/runtimes/spawn-claude.ts";

const limits = { maxLineBytes: 100, maxBacklogBytes: 200 };
const line = (text: string, type = "assistant") => `${JSON.stringify({ type, text })}\n`;

function createOutputLimit({ isCaughtUp = true } = {}) {
  const reader = { isCaughtUp };
  const gate = new OutputGate(() => reader.isCaughtUp, limits);
  const push = (text: string) => gate.push(Buffer.from(text)).toString();
  return { reader, push, end: () => gate.end().toString() };
}

const truncationMarker = (reason: string, messages: number, bytes: number) =>
  `${JSON.stringify({ type: "system", subtype: "output_dropped", reason, messages, bytes })}\n`;

describe("limits on claude's output", () => {
  test("forwards whole lines unchanged however they are split", () => {
    const bytes = Buffer.from(line("one") + line("zwö") + line("three"));
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const gate = new OutputGate(() => true, limits);
      const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].map((part) => gate.push(part));
      expect(Buffer.concat([...parts, gate.end()])).toEqual(bytes);
    }
  });

  test("replaces a line that is too long by a marker without storing it", () => {
    const { push } = createOutputLimit();
    expect(push(line("before"))).toBe(line("before"));
    for (let part = 0; part < 1_000; part += 1) expect(push("x".repeat(100))).toBe("");
    expect(push(`\n${line("after")}`)).toBe(
      truncationMarker("line_too_long", 1, 100_001) + line("after"),
    );
  });

  test("drops messages for a slow reader and reports how many", () => {
    const { reader, push, end } = createOutputLimit({ isCaughtUp: false });
    const one = line("x".repeat(50));
    const fitting = Math.floor(limits.maxBacklogBytes / one.length);
    expect(push(one.repeat(fitting))).toBe(one.repeat(fitting));
    expect(push(one.repeat(5))).toBe("");
    reader.isCaughtUp = true;
    expect(push(one)).toBe(truncationMarker("reader_behind", 5, 5 * one.length) + one);
    expect(end()).toBe("");
  });

  test("keeps results and control messages when others are dropped", () => {
    const { push, end } = createOutputLimit({ isCaughtUp: false });
    push(line("x".repeat(50)).repeat(20));
    const kept = line("", "result") + line("", "control_request");
    expect(push(kept).endsWith(kept)).toBe(true);
    // These are limited as well.
    push(line("", "result").repeat(100));
    expect(end()).toContain("reader_behind");
  });

  test("forwards a last line without a line end", () => {
    const { push, end } = createOutputLimit();
    expect(push("half")).toBe("");
    expect(end()).toBe("half");
  });
});
