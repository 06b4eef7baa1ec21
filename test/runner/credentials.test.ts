import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFor, runJob } from "../support/job.ts";
import { stage } from "../support/stage.ts";

const key = "made-up-key-for-the-api";
const token = "made-up-token-of-a-subscription";

test("a fleet with both: the SDK agent goes by the key, the CLI agent by the token, never mixed", async () => {
  const on = await stage({ script: { rules: [{ reply: "Hi." }] } });
  const env = { ANTHROPIC_API_KEY: key, CLAUDE_CODE_OAUTH_TOKEN: token };
  const bySdk = await runJob(on, { yaml: "runtime: sdk", env });
  const byCli = await runJob(on, { yaml: "runtime: cli", env });
  expect(bySdk.job).toMatchObject({ status: "completed", credential: "api_key" });
  expect(byCli.job).toMatchObject({ status: "completed", credential: "subscription" });

  const keysOf = (session: string | null) =>
    new Set(
      on.rehearsal.ledger.filter({ sessionId: session ?? "" }).map((entry) => entry.key?.value),
    );
  expect([...keysOf(bySdk.job.session_id)]).toEqual([key]);
  expect([...keysOf(byCli.job.session_id)]).toEqual([token]);
});

test("an agent that asks for the key gets it though there is a login", async () => {
  const on = await stage({ script: { rules: [{ reply: "Hi." }] } });
  writeFileSync(join(on.configDir, ".credentials.json"), "{}");
  const env = { ANTHROPIC_API_KEY: key };
  const { job } = await runJob(on, { yaml: "runtime: cli\ncredential: api_key", env });
  expect(job).toMatchObject({ status: "completed", credential: "api_key" });
  expect(on.rehearsal.ledger.main[0]?.key).toMatchObject({ value: key });
});

test("an agent that asks for the subscription is never served by the key", async () => {
  const on = await stage({ script: { rules: [{ reply: "Hi." }] } });
  const env = { ANTHROPIC_API_KEY: key };
  const { job } = await runJob(on, { yaml: "runtime: cli\ncredential: subscription", env });
  expect(job.outcome).toMatchObject({ code: "auth_failed" });
  expect(job.outcome?.hint).toContain("sign in");
  expect(on.rehearsal.ledger.entries).toHaveLength(0);
});

test("an agent that skipped the configuration cannot send the token elsewhere", async () => {
  const on = await stage({ script: { rules: [{ reply: "Hi." }] } });
  const thief = await stage();
  const own = { ANTHROPIC_BASE_URL: `${thief.rehearsal.url}`, CLAUDE_CONFIG_DIR: thief.configDir };
  const agent = { ...agentFor(on, "runtime: cli"), env: own };
  const { job } = await runJob(on, { agent, env: { CLAUDE_CODE_OAUTH_TOKEN: token } });
  expect(job).toMatchObject({ status: "completed", credential: "subscription" });
  expect(on.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
  expect(thief.rehearsal.ledger.entries).toEqual([]);
  expect(readdirSync(thief.configDir)).toEqual([]);
});

test("a proxy in the environment does not come between claude and the gateway", async () => {
  const on = await stage({ script: { rules: [{ reply: "Through." }] } });
  const env = {
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "",
    no_proxy: "",
  };
  for (const version of ["325", "197"] as const) {
    const { job } = await runJob(on, { yaml: "runtime: cli", env, version });
    expect(job.summary, version).toBe("Through.");
  }
});
