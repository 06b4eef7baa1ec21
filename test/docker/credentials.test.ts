import { chownSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerUser, runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";

import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";
import { signIn } from "../support/sign-in.ts";

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
    chownSync(signIn(harness.configDir, token), containerUser.uid, containerUser.gid);
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
    signIn(harness.configDir, token);
    const { job } = await runJobInContainer(harness, { yaml });
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain("cannot read the login file");
    expect(job.outcome?.hint).toContain("auth: env");
  });
});

describe("without docker.auth", () => {
  const yaml = "runtime: cli\ndocker: { enabled: true }";
  const env = { ANTHROPIC_API_KEY: "" };

  test("uses the login without an API key, read-only, and says so once", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    chownSync(signIn(harness.configDir, token), containerUser.uid, containerUser.gid);
    const write = ["Bash", { command: "echo x >> ~/.claude/.credentials.json" }] as const;
    const { job } = await runJobInContainer(harness, {
      yaml,
      env,
      prompt: toolCallPrompt([...write]),
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(job.warnings.join()).toContain("used the login of this machine");
    expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: token });
    expect(toolResultTexts(await readJobMessages(job)).join()).toContain("Read-only file system");
    const second = await runJobInContainer(harness, { yaml, env });
    expect(second.job).toMatchObject({ outcome: { code: "success" }, credential: "subscription" });
    expect(second.job.warnings.join()).not.toContain("used the login");
  });

  test("prefers an API key, which stays outside the container", async () => {
    const harness = await startDockerHarness(engine);
    chownSync(signIn(harness.configDir, token), containerUser.uid, containerUser.gid);
    const { job } = await runJobInContainer(harness, { yaml });
    expect(job).toMatchObject({ credential: "api_key", warnings: [] });
  });

  test("refuses the login to the SDK and to a container with a network of its own", async () => {
    const harness = await startDockerHarness(engine);
    chownSync(signIn(harness.configDir, token), containerUser.uid, containerUser.gid);
    for (const refused of [
      "runtime: sdk",
      "runtime: cli\ndocker: { enabled: true, network: bridge }",
    ]) {
      const { job } = await runJobInContainer(harness, { yaml: refused, env });
      expect(job.outcome).toMatchObject({ code: "auth_failed" });
      expect(job.outcome?.hint).toMatch(/docker\.auth: env/);
    }
    expect(harness.rehearsal.ledger.entries).toEqual([]);
  });
});
