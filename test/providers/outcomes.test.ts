import { readFileSync } from "node:fs";
import type { OutcomeCode } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { runJob } from "../support/run-job.ts";
import { testSubset } from "../support/test-subset.ts";
import { providerCases } from "./provider-cases.ts";

type ErrorKind =
  | "throttled"
  | "daily_quota"
  | "expired_token"
  | "access_denied"
  | "model_denied"
  | "overloaded";

const expected: readonly (readonly [error: ErrorKind, outcome: OutcomeCode])[] = [
  ["access_denied", "auth_failed"],
  ["model_denied", "config_error"],
  ["daily_quota", "usage_limit"],
  ["throttled", "rate_limited"],
  ["overloaded", "overloaded"],
  ["expired_token", "auth_failed"],
];

const combinations = expected.flatMap(([error, outcome], row) =>
  providerCases.map((provider, column) => ({
    ...provider,
    ...{ error, outcome },
    order: (column - row + providerCases.length) % providerCases.length,
  })),
);
/** Two errors of the cloud protocols here; `adapters.test.ts` classifies all of them. */
const cases = testSubset(
  combinations.toSorted((a, b) => a.order - b.order),
  2,
);

describe("real jobs", () => {
  test.each(cases)("report $outcome for $error of $type", async ({ yaml, error, outcome }) => {
    const harness = await startHarness({ script: { rules: [{ fault: { error } }] } });
    const { job } = await runJob(harness, {
      yaml: `runtime: cli\nprovider: ${yaml}\nretry: { max_attempts: 1 }\n`,
      env: { HERDCTL_REHEARSAL_URL: harness.rehearsal.url ?? "", CLAUDE_CODE_MAX_RETRIES: "0" },
    });
    expect(job.outcome).toMatchObject({ code: outcome });
    if (outcome === "auth_failed") expect(job.outcome?.hint).toContain(job.provider?.credential);
  });
});

test("stops a job at its budget and records the cost", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { job } = await runJob(harness, {
    yaml: "provider: { type: bedrock, region: eu-central-1 }\nmax_budget_usd: 0.001\n",
    env: { HERDCTL_REHEARSAL_URL: harness.rehearsal.url ?? "" },
    prompt: "Run `true` with the Bash tool, then say done.",
  });
  expect(job).toMatchObject({ outcome: { code: "budget_exceeded" } });
  expect(job.cost_usd).toBeGreaterThan(0.001);
});

test("renews a rejected credential once, and fails with the reason if the command fails", async () => {
  const harness = await startHarness({
    script: {
      keys: ["rehearsal-key", "fresh-token-0123456789"],
      rules: [{ fault: { error: "expired_token", times: 1 }, reply: "hello" }],
    },
  });
  const counter = `${harness.home}/counter`;
  const base = `provider: { type: foundry, base_url: "${harness.rehearsal.url}/foundry", auth: bearer`;
  const command = `echo x >> ${counter}; echo fresh-token-0123456789`;
  const env = { HERDCTL_REHEARSAL_URL: "" };
  const renewed = await runJob(harness, {
    yaml: `${base}, credential_command: "${command}" }\n`,
    env,
  });
  expect(renewed.job).toMatchObject({
    outcome: { code: "success" },
    provider: { type: "foundry", credential: "credential_command" },
  });
  expect(harness.rehearsal.ledger.main.slice(0, 2).map(({ status }) => status)).toEqual([401, 200]);
  expect(readFileSync(counter, "utf8")).toBe("x\nx\n");

  const failed = await runJob(harness, { yaml: `${base}, credential_command: "exit 7" }\n`, env });
  expect(failed.job.outcome).toMatchObject({
    code: "auth_failed",
    message: "The `credential_command` failed (exit code 7).",
  });
});
