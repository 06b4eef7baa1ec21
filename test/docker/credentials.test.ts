import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dockerStage, insider, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();
const token = `sk-ant-oat01-${"t".repeat(40)}`;

describe.each(["none", "bridge"])("network: %s", (network) => {
  test("auth: env gives the container a token of its own", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const { job } = await runContained(on, {
      env: { CLAUDE_CODE_OAUTH_TOKEN: token },
      yaml: `runtime: cli\ndocker: { enabled: true, auth: env, network: ${network} }`,
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(on.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
  });

  test("the gateway holds the key whatever the network", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const { job } = await runContained(on, {
      yaml: `docker: { enabled: true, network: ${network} }`,
      prompt: obey(["Bash", { command: "env" }]),
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "api_key" });
    const key = on.rehearsal.ledger.main[0]?.key?.value ?? "";
    expect(key).toBe(on.env.ANTHROPIC_API_KEY);
    expect(toolResults(await logOf(job)).join()).not.toContain(key);
  });
});

describe("auth: mount", () => {
  const yaml = "runtime: cli\ndocker: { enabled: true, auth: mount }";

  test("gives the container the login file, read-only, and the gateway passes it on", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    chownSync(signIn(on), insider.uid, insider.gid);
    const { job } = await runContained(on, {
      yaml,
      prompt: obey(["Bash", { command: "echo x >> ~/.claude/.credentials.json" }]),
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(on.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
    expect(toolResults(await logOf(job)).join()).toContain("Read-only file system");
  });

  test("says before the start when the container's user cannot read the file", async () => {
    const on = await dockerStage(engine);
    signIn(on);
    const { job } = await runContained(on, { yaml });
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain("may not read the login file");
    expect(job.outcome?.hint).toContain("auth: env");
  });
});

function signIn(on: Stage): string {
  const file = join(on.configDir, ".credentials.json");
  const login = {
    accessToken: token,
    refreshToken: "refresh",
    expiresAt: Date.now() + 3_600_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max",
  };
  writeFileSync(file, JSON.stringify({ claudeAiOauth: login }), { mode: 0o600 });
  return file;
}
