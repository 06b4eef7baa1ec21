import { describe, expect, it } from "vitest";
import { reportOfShipped } from "../../packages/core/src/runner-process/report-of-shipped.ts";

const begun = "2026-03-01T10:00:00.000Z";
const during = "2026-03-01T10:00:05.000Z";
const before = "2026-03-01T09:59:00.000Z";

const init = { type: "system", subtype: "init", session_id: "s-1", model: "m", uuid: "u1" };
const says = {
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

describe("what a lost node had shipped of a run tells how it went", () => {
  const cases = [
    { what: "a result is a finished turn", log: [init, says, result], code: "success" },
    { what: "without one it broke off", log: [init, says], code: "interrupted" },
    { what: "nothing at all", log: [], code: "interrupted" },
  ];
  it.each(cases)("$what", ({ log, code }) => {
    const report = reportOf(log.map((line) => ({ ...line, herdctl_at: during })));
    expect(report.outcome.code).toBe(code);
    expect(report.crashed).toBe(true);
  });

  it("its words and its cost are kept", () => {
    const report = reportOf([init, says, result].map((one) => ({ ...one, herdctl_at: during })));
    expect(report).toMatchObject({ summary: "All of it.", cost_usd: 0.5, session_id: "s-1" });
    expect(report.session_opened).toBe(true);
  });

  it("what an earlier attempt said is not this one's", () => {
    const earlier = [init, says, result].map((one) => ({ ...one, herdctl_at: before }));
    const report = reportOf([...earlier, { ...init, herdctl_at: during }]);
    expect(report.outcome.code).toBe("interrupted");
  });

  it("a line that was cut off is not there", () => {
    const text = `${line({ ...init, herdctl_at: during })}${line(result).slice(0, 40)}`;
    expect(reportOf([], { log: text }).outcome.code).toBe("interrupted");
  });

  it("a report that was owed lies on the lost node: it is tried again", () => {
    const log = [init, says, result].map((one) => ({ ...one, herdctl_at: during }));
    expect(reportOf(log, { demandsReport: true }).outcome.code).toBe("interrupted");
  });
});

function reportOf(log: object[], more: { log?: string; demandsReport?: boolean } = {}) {
  const job = { id: "job-1", session_id: "s-1", claude_version: null, credential: null };
  const attempt = { number: 1, started_at: begun };
  const shipped = { job, attempt, log: log.map(line).join(""), demandsReport: false, ...more };
  return reportOfShipped(shipped, new Date("2026-03-01T10:01:00.000Z"));
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
