import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerUser, runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();
const token = `sk-ant-oat01-${"t".repeat(40)}`;

describe.each(["none", "bridge"])("credentials with network: %s", (network) => {
  test("gives the container a separate token with auth: env", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const { job } = await runJobInContainer(harness, {
      env: { CLAUDE_CODE_OAUTH_TOKEN: token },
      yaml: `runtime: cli\ndocker: { enabled: true, auth: env, network: ${network} }`,
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
  });

  test("keeps the key in the gateway for any network", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const { job } = await runJobInContainer(harness, {
      yaml: `docker: { enabled: true, network: ${network} }`,
      prompt: toolCallPrompt(["Bash", { command: "env" }]),
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "api_key" });
    const key = harness.rehearsal.ledger.main[0]?.key?.value ?? "";
    expect(key).toBe(harness.env.ANTHROPIC_API_KEY);
    expect(toolResultTexts(await readJobMessages(job)).join()).not.toContain(key);
  });
});

describe("auth: mount", () => {
  const yaml = "runtime: cli\ndocker: { enabled: true, auth: mount }";

  test("mounts the login file read-only and forwards its requests through the gateway", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    chownSync(signIn(harness), containerUser.uid, containerUser.gid);
    const { job } = await runJobInContainer(harness, {
      yaml,
      prompt: toolCallPrompt(["Bash", { command: "echo x >> ~/.claude/.credentials.json" }]),
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
    expect(toolResultTexts(await readJobMessages(job)).join()).toContain("Read-only file system");
  });

  test("reports before the start that the container's user cannot read the file", async () => {
    const harness = await startDockerHarness(engine);
    signIn(harness);
    const { job } = await runJobInContainer(harness, { yaml });
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain("cannot read the login file");
    expect(job.outcome?.hint).toContain("auth: env");
  });
});

function signIn(harness: TestHarness): string {
  const file = join(harness.configDir, ".credentials.json");
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
