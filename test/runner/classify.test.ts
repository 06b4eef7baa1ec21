import { describe, expect, test } from "vitest";
import { classify } from "../../packages/core/src/runner/classify.ts";
import {
  type Evidence,
  noEvidence,
  type ResultSeen,
} from "../../packages/core/src/runner/evidence.ts";
import { outcomes } from "../../packages/core/src/runner/outcomes.ts";

const success: ResultSeen = {
  subtype: "success",
  isError: false,
  status: null,
  text: "Done.",
  errors: [],
  turns: 1,
  costUsd: 0.1,
  modelUsage: {},
  synthesised: false,
};
const apiError = (status: number | null, text = "API Error"): ResultSeen => ({
  ...success,
  isError: true,
  status,
  text,
});
const failed = (subtype: string, ...errors: string[]): ResultSeen => ({
  ...success,
  subtype,
  isError: true,
  errors,
});
const ended = (code: number | null, signal: string | null = null) => ({ code, signal });
const in2h = Date.UTC(2030, 0, 1, 2);

/** Every row of what the real binary shows, and what it truly means. */
const cases: [what: string, evidence: Partial<Evidence>, code: string][] = [
  ["a result and exit 0", { result: success, exit: ended(0) }, "success"],
  ["a result though the exit says 1", { result: success, exit: ended(1) }, "success"],
  [
    "a result, then no exit and our kill",
    { result: success, exit: ended(null, "SIGKILL") },
    "success",
  ],
  [
    "a result without the report it owes",
    { result: success, reportMissing: true },
    "report_missing",
  ],
  [
    "the same, though tools were denied as well",
    { result: success, reportMissing: true, denials: [{ tool: "Bash", toolUseId: "1" }] },
    "report_missing",
  ],
  [
    "no report because the run failed before",
    { result: apiError(529), reportMissing: true },
    "overloaded",
  ],
  ["401: subtype success, is_error", { result: apiError(401), exit: ended(1) }, "auth_failed"],
  ["403", { result: apiError(403), exit: ended(1) }, "auth_failed"],
  [
    "401 told by a retry, stopped by us",
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
    { result: apiError(400, "Your credit balance is too low"), exit: ended(1) },
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
      gateway: { cut: false, limit: { status: 429, at: 0, retryAfterMs: 120_000, resetsAt: in2h } },
    },
    "usage_limit",
  ],
  [
    "429 of a subscription",
    { result: apiError(429), limit: { rejected: true, resetsAt: in2h } },
    "usage_limit",
  ],
  [
    "429 told by kind only",
    { result: apiError(null), apiError: { kind: "rate_limit" } },
    "rate_limited",
  ],
  ["529", { result: apiError(529), exit: ended(1) }, "overloaded"],
  ["500", { result: apiError(500), exit: ended(1) }, "overloaded"],
  [
    "529 known from the retries only",
    { result: apiError(null), apiError: { kind: "overloaded", status: 529 } },
    "overloaded",
  ],
  ["a cut stream", { result: apiError(null), exit: ended(1), gateway: { cut: true } }, "network"],
  [
    "connection refused",
    { result: apiError(null, "API Error: Connection error."), exit: ended(1) },
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
    { result: success, denials: [{ tool: "Bash", toolUseId: "t" }], exit: ended(0) },
    "finished_with_denials",
  ],
  ["max turns", { result: failed("error_max_turns"), exit: ended(1) }, "max_turns"],
  ["budget", { result: failed("error_max_budget_usd"), exit: ended(1) }, "budget_exceeded"],
  [
    "an unknown session",
    {
      result: failed("error_during_execution", "No conversation found with session ID: x"),
      exit: ended(1),
    },
    "session_missing",
  ],
  [
    "an unknown session, on stderr only",
    { stderr: "No conversation found with session ID: x", exit: ended(1) },
    "session_missing",
  ],
  [
    "a session id already used",
    { stderr: "Error: Session ID 1 is already in use.", exit: ended(1) },
    "session_busy",
  ],
  [
    "not signed in",
    { stderr: "Invalid API key · Please run /login", exit: ended(1) },
    "auth_failed",
  ],
  [
    "root without a sandbox",
    {
      stderr: "--dangerously-skip-permissions cannot be used with root/sudo privileges",
      exit: ended(1),
    },
    "config_error",
  ],
  [
    "an option this binary does not know",
    { stderr: "error: unknown option '--effort=high'", exit: ended(1) },
    "runtime_missing",
  ],
  [
    "SIGINT in a tool: exit 0 and an error result",
    { result: failed("error_during_execution", "Request interrupted"), exit: ended(0) },
    "interrupted",
  ],
  [
    "SIGINT in an API hang: exit 0 and no result",
    { init: { sessionId: "s", synthesised: false }, exit: ended(0) },
    "interrupted",
  ],
  [
    "SIGTERM: 143 and no result",
    { init: { sessionId: "s", synthesised: false }, exit: ended(143) },
    "runtime_crashed",
  ],
  [
    "SIGKILL: no result",
    { init: { sessionId: "s", synthesised: false }, exit: ended(null, "SIGKILL") },
    "runtime_crashed",
  ],
  ["a crash", { exit: ended(139), stderr: "Segmentation fault" }, "runtime_crashed"],
  [
    "a full disk: exit 0, writes lost after the result",
    { result: success, writesLost: true, exit: ended(0) },
    "disk_full",
  ],
  [
    "no space, in words",
    { stderr: "ENOSPC: no space left on device", exit: ended(1) },
    "disk_full",
  ],
  [
    "the program is not there",
    { exit: { code: null, signal: null, failure: "ENOENT" } },
    "runtime_missing",
  ],
  [
    "the program may not be run",
    { exit: { code: null, signal: null, failure: "EACCES" } },
    "runtime_missing",
  ],
  [
    "the program cannot be started",
    { exit: { code: null, signal: null, failure: "EAGAIN" } },
    "runtime_crashed",
  ],
  [
    "cancelled by a person",
    { stopped: "cancelled", result: failed("error_during_execution"), exit: ended(0) },
    "cancelled",
  ],
  ["no sign of life", { stopped: "stalled", exit: ended(143) }, "stalled"],
  ["no start", { stopped: "start_timeout", exit: ended(143) }, "start_timeout"],
  ["too long", { stopped: "timeout", result: failed("error_during_execution") }, "timeout"],
  ["the fleet was stopped", { stopped: "interrupted" }, "interrupted"],
  [
    "kept from starting",
    { refused: { code: "workspace_missing", message: "gone" } },
    "workspace_missing",
  ],
  [
    "the API cannot be reached and claude gave up silently",
    { gateway: { cut: false, unreachable: "ECONNREFUSED" }, exit: ended(0) },
    "network",
  ],
  ["nothing at all", {}, "interrupted"],
];

test.each(cases)("%s", (_, evidence, code) => {
  const outcome = classify({ ...noEvidence(), ...evidence });
  expect(outcome.code).toBe(code);
  expect(outcome.message).not.toBe("");
  expect(outcome.hint).not.toBe("");
});

describe("what an outcome says", () => {
  test("a limit tells when it resets", () => {
    const outcome = classify({
      ...noEvidence(),
      result: apiError(429),
      limit: { rejected: true, resetsAt: in2h },
    });
    expect(outcome.resets_at).toBe("2030-01-01T02:00:00.000Z");
    expect(outcome.message).toContain("2030-01-01");
  });

  test("a denial names the tools once each", () => {
    const denials = ["Bash", "Bash", "Write"].map((tool, index) => ({
      tool,
      toolUseId: String(index),
    }));
    expect(classify({ ...noEvidence(), result: success, denials }).message).toContain(
      "Bash, Write",
    );
  });

  test("every code has a status, a message and a hint", () => {
    for (const [code, facts] of Object.entries(outcomes)) {
      expect(facts.message, code).toMatch(/\.$/);
      expect(facts.hint, code).toMatch(/\.$/);
    }
  });
});
