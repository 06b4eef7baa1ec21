import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { loadAgent, runJob } from "../support/run-job.ts";

const key = "made-up-key-for-the-api";
const token = "made-up-token-of-a-subscription";

test("uses the key for the SDK agent and the token for the CLI agent, never mixed", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Hi." }] } });
  const env = { ANTHROPIC_API_KEY: key, CLAUDE_CODE_OAUTH_TOKEN: token };
  const bySdk = await runJob(harness, { yaml: "runtime: sdk", env });
  const byCli = await runJob(harness, { yaml: "runtime: cli", env });
  expect(bySdk.job).toMatchObject({ status: "completed", credential: "api_key" });
  expect(byCli.job).toMatchObject({ status: "completed", credential: "subscription" });

  const keysOf = (session: string | null) =>
    new Set(
      harness.rehearsal.ledger
        .filter({ sessionId: session ?? "" })
        .map((entry) => entry.key?.value),
    );
  expect([...keysOf(bySdk.job.session_id)]).toEqual([key]);
  expect([...keysOf(byCli.job.session_id)]).toEqual([token]);
});

test("uses the key for an agent that asks for it although there is a login", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Hi." }] } });
  writeFileSync(join(harness.configDir, ".credentials.json"), "{}");
  const env = { ANTHROPIC_API_KEY: key };
  const { job } = await runJob(harness, { yaml: "runtime: cli\ncredential: api_key", env });
  expect(job).toMatchObject({ status: "completed", credential: "api_key" });
  expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: key });
});

test("never uses the key for an agent that asks for the subscription", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Hi." }] } });
  const env = { ANTHROPIC_API_KEY: key };
  const { job } = await runJob(harness, { yaml: "runtime: cli\ncredential: subscription", env });
  expect(job.outcome).toMatchObject({ code: "auth_failed" });
  expect(job.outcome?.hint).toContain("sign in");
  expect(harness.rehearsal.ledger.entries).toHaveLength(0);
});

test("sends no token elsewhere for an agent that bypassed the configuration", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Hi." }] } });
  const thief = await startHarness();
  const own = { ANTHROPIC_BASE_URL: `${thief.rehearsal.url}`, CLAUDE_CONFIG_DIR: thief.configDir };
  const agent = { ...loadAgent(harness, "runtime: cli"), env: own };
  const { job } = await runJob(harness, { agent, env: { CLAUDE_CODE_OAUTH_TOKEN: token } });
  expect(job).toMatchObject({ status: "completed", credential: "subscription" });
  expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
  expect(thief.rehearsal.ledger.entries).toEqual([]);
  expect(readdirSync(thief.configDir)).toEqual([]);
});

test("ignores a proxy of the environment between claude and the gateway", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Through." }] } });
  const env = {
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "",
    no_proxy: "",
  };
  for (const version of ["325", "197"] as const) {
    const { job } = await runJob(harness, { yaml: "runtime: cli", env, version });
    expect(job.summary, version).toBe("Through.");
  }
});
