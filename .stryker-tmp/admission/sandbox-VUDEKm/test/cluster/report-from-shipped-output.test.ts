import { describe, expect, it } from "vitest";
import {
  type LostRun,
  reportFromReplicatedLog,
} from "../../packages/core/src/runner/recovery/report-from-replicated-log.ts";

const startedAt = "2026-03-01T10:00:00.000Z";
const attemptTime = "2026-03-01T10:00:05.000Z";
const timeBefore = "2026-03-01T09:59:00.000Z";

const init = { type: "system", subtype: "init", session_id: "s-1", model: "m", uuid: "u1" };
const assistantMessage = {
  type: "assistant",
  uuid: "u2",
  message: { content: [{ type: "text", text: "Half of it." }] },
};
const result = {
  type: "result",
  subtype: "success",
  is_error: false,
  result: "All of it.",
  num_turns: 1,
  total_cost_usd: 0.5,
  modelUsage: {},
  permission_denials: [],
  session_id: "s-1",
  uuid: "u3",
};

describe("outcome from the shipped output of a lost node", () => {
  const cases = [
    {
      what: "reports success for a finished turn",
      log: [init, assistantMessage, result],
      code: "success",
    },
    {
      what: "reports an interruption without a result",
      log: [init, assistantMessage],
      code: "interrupted",
    },
    { what: "reports an interruption without any output", log: [], code: "interrupted" },
  ];
  it.each(cases)("$what", ({ log, code }) => {
    const report = reportOf(log.map((line) => ({ ...line, herdctl_at: attemptTime })));
    expect(report.outcome.code).toBe(code);
    expect(report.crashed).toBe(true);
  });

  it("keeps the summary and the cost of the result", () => {
    const report = reportOf(
      [init, assistantMessage, result].map((one) => ({ ...one, herdctl_at: attemptTime })),
    );
    expect(report).toMatchObject({ summary: "All of it.", cost_usd: 0.5, session_id: "s-1" });
    expect(report.session_opened).toBe(true);
  });

  it("sums the cost of an interrupted run from its messages, counting each call once", () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 10_000 };
    const assistantLine = (id: string, model: string) => ({
      ...assistantMessage,
      message: { ...assistantMessage.message, id, model, usage },
    });
    const calls = [
      assistantLine("m-1", "claude-opus-5-5"),
      assistantLine("m-1", "claude-opus-5-5"),
    ];
    const log = [
      init,
      ...calls,
      assistantLine("m-2", "own"),
      { ...assistantMessage, herdctl_at: timeBefore },
    ];
    const prices = { own: { input: 1, output: 0 } };
    const report = reportOf(
      log.map((one) => ({ herdctl_at: attemptTime, ...one })),
      { prices },
    );
    expect(report.cost_usd).toBeCloseTo(4 + 0.2 + 1);
    expect(report.usage).toMatchObject({ input_tokens: 2_000_000, output_tokens: 20_000 });
    expect(reportOf([init, assistantMessage], { prices }).cost_usd).toBeNull();
  });

  it("ignores the output of an earlier attempt", () => {
    const earlier = [init, assistantMessage, result].map((one) => ({
      ...one,
      herdctl_at: timeBefore,
    }));
    const report = reportOf([...earlier, { ...init, herdctl_at: attemptTime }]);
    expect(report.outcome.code).toBe("interrupted");
  });

  it("ignores a truncated line", () => {
    const text = `${line({ ...init, herdctl_at: attemptTime })}${line(result).slice(0, 40)}`;
    expect(reportOf([], { log: text }).outcome.code).toBe("interrupted");
  });

  it("retries a job whose report stayed on the lost node", () => {
    const log = [init, assistantMessage, result].map((one) => ({
      ...one,
      herdctl_at: attemptTime,
    }));
    expect(reportOf(log, { demandsReport: true }).outcome.code).toBe("interrupted");
  });
});

type More = Partial<Pick<LostRun, "log" | "demandsReport" | "prices">>;

function reportOf(log: object[], more: More = {}) {
  const job = { id: "job-1", session_id: "s-1", claude_version: null, credential: null };
  const attempt = { number: 1, started_at: startedAt };
  const text = log.map(line).join("");
  const shipped = { job, attempt, log: text, demandsReport: false, prices: {}, ...more };
  return reportFromReplicatedLog(shipped, new Date("2026-03-01T10:01:00.000Z"));
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
