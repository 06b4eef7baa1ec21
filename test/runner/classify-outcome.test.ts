import { describe, expect, test } from "vitest";
import { classifyOutcome } from "../../packages/core/src/runner/execution/classify-outcome.ts";
import {
  type Evidence,
  emptyEvidence,
  type ResultEvidence,
} from "../../packages/core/src/runner/execution/evidence.ts";
import { outcomes } from "../../packages/protocol/src/outcome-table.ts";

const success: ResultEvidence = {
  subtype: "success",
  isError: false,
  status: null,
  text: "Done.",
  errors: [],
  turns: 1,
  costUsd: 0.1,
  modelUsage: {},
  isSynthesised: false,
};
const apiError = (status: number | null, text = "API Error"): ResultEvidence => ({
  ...success,
  isError: true,
  status,
  text,
});
const failed = (subtype: string, ...errors: string[]): ResultEvidence => ({
  ...success,
  subtype,
  isError: true,
  errors,
});
const exitOf = (code: number | null, signal: string | null = null) => ({ code, signal });
const inTwoHours = Date.UTC(2030, 0, 1, 2);

/** The evidence that the real binary leaves in each case, and the correct outcome. */
const cases: [what: string, evidence: Partial<Evidence>, code: string][] = [
  ["a result and exit 0", { result: success, exit: exitOf(0) }, "success"],
  ["a result although the exit code is 1", { result: success, exit: exitOf(1) }, "success"],
  [
    "a result, then no exit and our kill",
    { result: success, exit: exitOf(null, "SIGKILL") },
    "success",
  ],
  [
    "a result without the required report",
    { result: success, isReportMissing: true },
    "report_missing",
  ],
  [
    "a result without the required report and with denied tools",
    { result: success, isReportMissing: true, denials: [{ tool: "Bash", toolUseId: "1" }] },
    "report_missing",
  ],
  [
    "no report because the run failed before",
    { result: apiError(529), isReportMissing: true },
    "overloaded",
  ],
  ["401: subtype success, is_error", { result: apiError(401), exit: exitOf(1) }, "auth_failed"],
  ["403", { result: apiError(403), exit: exitOf(1) }, "auth_failed"],
  [
    "401 reported by a retry, stopped by us",
    { stopped: "auth_failed", apiError: { status: 401 } },
    "auth_failed",
  ],
  [
    "a key that is refused by name",
    { result: apiError(null), apiError: { kind: "authentication_failed" } },
    "auth_failed",
  ],
  [
    "no credit",
    { result: apiError(400, "Your credit balance is too low"), exit: exitOf(1) },
    "billing",
  ],
  ["402", { result: apiError(402) }, "billing"],
  [
    "429 with a short wait",
    {
      result: apiError(429),
      gateway: { cut: false, limit: { status: 429, at: 0, retryAfterMs: 5000 } },
    },
    "rate_limited",
  ],
  [
    "429 with a long wait",
    {
      result: apiError(429),
      gateway: {
        cut: false,
        limit: { status: 429, at: 0, retryAfterMs: 120_000, resetsAt: inTwoHours },
      },
    },
    "usage_limit",
  ],
  [
    "429 of a subscription",
    { result: apiError(429), limit: { rejected: true, resetsAt: inTwoHours } },
    "usage_limit",
  ],
  [
    "429 reported by kind only",
    { result: apiError(null), apiError: { kind: "rate_limit" } },
    "rate_limited",
  ],
  ["529", { result: apiError(529), exit: exitOf(1) }, "overloaded"],
  ["500", { result: apiError(500), exit: exitOf(1) }, "overloaded"],
  [
    "529 from the retries only",
    { result: apiError(null), apiError: { kind: "overloaded", status: 529 } },
    "overloaded",
  ],
  [
    "a truncated stream",
    { result: apiError(null), exit: exitOf(1), gateway: { cut: true } },
    "network",
  ],
  [
    "connection refused",
    { result: apiError(null, "API Error: Connection error."), exit: exitOf(1) },
    "network",
  ],
  [
    "a bad request",
    { result: apiError(400), apiError: { kind: "invalid_request" } },
    "config_error",
  ],
  [
    "an unknown model",
    { result: apiError(404), apiError: { kind: "model_not_found" } },
    "config_error",
  ],
  [
    "a denied tool, exit 0",
    { result: success, denials: [{ tool: "Bash", toolUseId: "t" }], exit: exitOf(0) },
    "finished_with_denials",
  ],
  ["max turns", { result: failed("error_max_turns"), exit: exitOf(1) }, "max_turns"],
  ["budget", { result: failed("error_max_budget_usd"), exit: exitOf(1) }, "budget_exceeded"],
  [
    "an unknown session",
    {
      result: failed("error_during_execution", "No conversation found with session ID: x"),
      exit: exitOf(1),
    },
    "session_missing",
  ],
  [
    "an unknown session, on stderr only",
    { stderr: "No conversation found with session ID: x", exit: exitOf(1) },
    "session_missing",
  ],
  [
    "a session id already used",
    { stderr: "Error: Session ID 1 is already in use.", exit: exitOf(1) },
    "session_busy",
  ],
  [
    "not signed in",
    { stderr: "Invalid API key · Please run /login", exit: exitOf(1) },
    "auth_failed",
  ],
  [
    "root without a sandbox",
    {
      stderr: "--dangerously-skip-permissions cannot be used with root/sudo privileges",
      exit: exitOf(1),
    },
    "config_error",
  ],
  [
    "an option this binary does not know",
    { stderr: "error: unknown option '--effort=high'", exit: exitOf(1) },
    "runtime_missing",
  ],
  [
    "SIGINT in a tool: exit 0 and an error result",
    { result: failed("error_during_execution", "Request interrupted"), exit: exitOf(0) },
    "interrupted",
  ],
  [
    "SIGINT in an API hang: exit 0 and no result",
    { init: { sessionId: "s", isSynthesised: false }, exit: exitOf(0) },
    "interrupted",
  ],
  [
    "SIGTERM: 143 and no result",
    { init: { sessionId: "s", isSynthesised: false }, exit: exitOf(143) },
    "runtime_crashed",
  ],
  [
    "SIGKILL: no result",
    { init: { sessionId: "s", isSynthesised: false }, exit: exitOf(null, "SIGKILL") },
    "runtime_crashed",
  ],
  ["a crash", { exit: exitOf(139), stderr: "Segmentation fault" }, "runtime_crashed"],
  [
    "a full disk: exit 0, writes lost after the result",
    { result: success, hasLostWrites: true, exit: exitOf(0) },
    "disk_full",
  ],
  [
    "a message without space on the disk",
    { stderr: "ENOSPC: no space left on device", exit: exitOf(1) },
    "disk_full",
  ],
  [
    "a missing program",
    { exit: { code: null, signal: null, failure: "ENOENT" } },
    "runtime_missing",
  ],
  [
    "a program without execute permission",
    { exit: { code: null, signal: null, failure: "EACCES" } },
    "runtime_missing",
  ],
  [
    "a program that cannot be started",
    { exit: { code: null, signal: null, failure: "EAGAIN" } },
    "runtime_crashed",
  ],
  [
    "cancelled by a person",
    { stopped: "cancelled", result: failed("error_during_execution"), exit: exitOf(0) },
    "cancelled",
  ],
  ["no sign of life", { stopped: "stalled", exit: exitOf(143) }, "stalled"],
  ["no start", { stopped: "start_timeout", exit: exitOf(143) }, "start_timeout"],
  [
    "the total timeout",
    { stopped: "timeout", result: failed("error_during_execution") },
    "timeout",
  ],
  ["the fleet was stopped", { stopped: "interrupted" }, "interrupted"],
  [
    "prevented from starting",
    { refused: { code: "workspace_missing", message: "gone" } },
    "workspace_missing",
  ],
  [
    "an unreachable API and a silent exit of claude",
    { gateway: { cut: false, unreachable: "ECONNREFUSED" }, exit: exitOf(0) },
    "network",
  ],
  ["nothing at all", {}, "interrupted"],
];

test.each(cases)("classifies %s", (_, evidence, code) => {
  const outcome = classifyOutcome({ ...emptyEvidence(), ...evidence });
  expect(outcome.code).toBe(code);
  expect(outcome.message).not.toBe("");
  expect(outcome.hint).not.toBe("");
});

describe("text of an outcome", () => {
  test("includes the reset time of a limit", () => {
    const outcome = classifyOutcome({
      ...emptyEvidence(),
      result: apiError(429),
      limit: { rejected: true, resetsAt: inTwoHours },
    });
    expect(outcome.resets_at).toBe("2030-01-01T02:00:00.000Z");
    expect(outcome.message).toContain("2030-01-01");
  });

  test("names each denied tool once", () => {
    const denials = ["Bash", "Bash", "Write"].map((tool, index) => ({
      tool,
      toolUseId: String(index),
    }));
    expect(classifyOutcome({ ...emptyEvidence(), result: success, denials }).message).toContain(
      "Bash, Write",
    );
  });

  test("defines a status, a message and a hint for every code", () => {
    for (const [code, facts] of Object.entries(outcomes)) {
      expect(facts.message, code).toMatch(/\.$/);
      expect(facts.hint, code).toMatch(/\.$/);
    }
  });
});

test("does not ask to allow tools that a person has just denied", () => {
  const denials = [{ tool: "Bash", toolUseId: "one" }];
  const evidence = { ...emptyEvidence(), result: success, denials };
  expect(classifyOutcome({ ...evidence, deniedByPerson: ["one"] })).toMatchObject({
    code: "finished_with_denials",
    message: "The agent finished, but you denied Bash.",
    hint: expect.stringContaining("Nothing to do"),
  });
  expect(classifyOutcome(evidence).hint).toContain("allowed_tools");
});
