import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Check } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { startCliHarness, waitUntil } from "../cli/cli-harness.ts";
import { runHerdctl, runHerdctlInTerminal } from "../cli/run-herdctl.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { wideTest } from "../support/test-subset.ts";

const key = "sk-ant-made-up-and-wrong";

/**
 * Six problems: no claude, a wrong key, no engine, readable state, a taken port, an agent with all
 * three risks.
 */
async function createBrokenSetup() {
  const harness = await startHarness({ script: { keys: ["the-right-one"] } });
  const port = await occupyPort();
  const folder = tempFolderWith({
    "herdctl.yaml": `version: 1
fleet: { name: broken }
server: { port: ${port} }
claude_path: /no/such/claude
agents:
  - name: open
    permission_mode: bypassPermissions
    default_prompt: go
    schedules: { hook: { type: webhook, signature: { kind: github, secret_env: HOOK_SECRET } } }
  - { name: boxed, working_directory: work, docker: { enabled: true } }
`,
    ".env": `ANTHROPIC_API_KEY=${key}\nHOOK_SECRET=made-up-and-long-enough\n`,
    "work/readme": "",
  });
  mkdirSync(join(folder, ".herdctl"));
  chmodSync(join(folder, ".herdctl"), 0o755);
  const { ANTHROPIC_BASE_URL = "" } = harness.env;
  // Tests may run as root.
  const env = { ANTHROPIC_BASE_URL, DOCKER_HOST: "unix:///no/such.sock", IS_SANDBOX: "1" };
  const doctor = async (...args: string[]) => {
    const run = await runHerdctl(["doctor", ...args, "--json"], { cwd: folder, env });
    const { ok, checks }: { ok: boolean; checks: Check[] } = JSON.parse(run.stdout);
    return { ...run, ok, checks };
  };
  return { folder, port, env, doctor, ledger: harness.rehearsal.ledger };
}

/** Listens on a port in this process. */
async function occupyPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

test("names each problem of a broken set-up with its position or hint, and spends or sends nothing", async () => {
  const { folder, port, doctor, ledger } = await createBrokenSetup();
  const { code, stdout, stderr, ok, checks } = await doctor();
  expect({ code, ok, stderr }).toEqual({ code: 1, ok: false, stderr: "" });
  const unwell = checks.filter(({ verdict }) => verdict === "failed" || verdict === "warning");
  const state = join(folder, ".herdctl");
  expect(unwell).toMatchObject([
    {
      ...{ group: "claude", name: "claude", verdict: "failed" },
      message: "`claude_path` is /no/such/claude, which does not exist.",
      hint: expect.stringContaining("Correct `claude_path`"),
    },
    {
      ...{ group: "claude", name: "api", verdict: "failed" },
      message: expect.stringContaining("rejects the key in ANTHROPIC_API_KEY (401"),
      hint: expect.stringContaining("to a valid key"),
    },
    {
      ...{ group: "fleet", name: "permissions", verdict: "failed" },
      message: expect.stringContaining(`${state} (mode 755)`),
      hint: expect.stringContaining(`chmod 700 ${state}`),
    },
    {
      ...{ group: "fleet", name: "permissions", verdict: "warning" },
      message: expect.stringContaining(".env (mode 644)"),
    },
    {
      ...{ group: "fleet", name: "port", verdict: "failed" },
      message: `127.0.0.1:${port} is used by process ${process.pid} (node).`,
      hint: expect.stringContaining("server.port"),
    },
    {
      ...{ group: "agents", name: "rule of two", agent: "open", verdict: "warning" },
      place: join(folder, "herdctl.yaml"),
      message: expect.stringContaining("all three"),
      hint: expect.stringContaining("docker: { enabled: true }"),
    },
    {
      ...{ group: "docker", name: "engine", verdict: "failed" },
      hint: expect.stringContaining("DOCKER_HOST"),
    },
  ]);
  expect(stdout).not.toContain(key);
  expect(ledger.entries.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/models"]);
});

test("fixes permissions with --fix, reports that and leaves the rest to people", async () => {
  const { folder, doctor, ledger } = await createBrokenSetup();
  const { code, checks } = await doctor("--fix", "--offline");
  expect(code).toBe(1);
  const modes = [".herdctl", ".env"].map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
  expect(checks.filter(({ fixed }) => fixed)).toMatchObject([
    { name: "permissions", message: `${join(folder, ".herdctl")} now has the mode 700.` },
    { name: "permissions", message: `${join(folder, ".env")} now has the mode 600.` },
  ]);
  expect(checks.filter(({ verdict }) => verdict === "failed").map(({ name }) => name)).toEqual([
    ...["claude", "port", "engine"],
  ]);
  expect(ledger.entries).toEqual([]);
});

test("reports configuration problems with their position beside all other checks", async () => {
  const cwd = tempFolderWith({ "herdctl.yaml": "version: 1\nfleet: { name: x }\nagent: []\n" });
  const run = await runHerdctl(["doctor", "--offline"], { cwd });
  expect(run).toMatchObject({ code: 1, stderr: "" });
  expect(run.stdout).toMatch(/✗ configuration {2}agent: .*\n\s+\S+herdctl\.yaml:3:1\n\s+→ /);
  expect(run.stdout).toContain("✓ node");
});

test("reports a good set-up in green on a terminal", async () => {
  const harness = await startHarness({ script: { keys: ["rehearsal-key"] } });
  const cwd = tempFolderWith({
    "herdctl.yaml": `version: 1
fleet: { name: good }
claude_path: ${claudeBinary("325")}
agents:
  - { name: editor, working_directory: ${harness.workspace}, permission_mode: acceptEdits }
  - { name: reader, working_directory: ${harness.workspace}, runtime: cli, allowed_tools: [Read] }
`,
  });
  const env = { ...harness.env, DOCKER_HOST: "unix:///no/such.sock" };
  const run = await runHerdctlInTerminal(["doctor", "--strict"], { cwd, env, keys: [] });
  const screen = run.screen.replace(/\x1b\[[\d;?]*[A-Za-z]/g, "");
  expect(screen).toContain("Claude Code and its sign-in");
  expect(screen).toMatch(/✓ api {2}127\.0\.0\.1:\d+ accepts the key in ANTHROPIC_API_KEY/);
  expect(screen).toMatch(/✓ editor · rule of two {2}No untrusted input/);
  expect(screen).toMatch(/– engine/);
  expect(screen).not.toMatch(/[✗!] /);
  expect(screen).toContain("No problems found.");
  expect(run.code).toBe(0);
});

wideTest("recognizes a running fleet by its port, and a killed one by its leftovers", async () => {
  const harness = await startCliHarness();
  const names = ["fleet", "port"];
  const doctor = async (...args: string[]) => {
    const { stdout } = await harness.run("doctor", "--json", "--offline", ...args);
    const { checks }: { checks: Check[] } = JSON.parse(stdout);
    return checks.filter(({ name }) => names.includes(name));
  };
  const { child, exited } = harness.start("start");
  const url = await waitUntil(async () => {
    const { stdout } = await harness.run("status", "--json");
    return stdout.startsWith("{") ? JSON.parse(stdout).fleet?.url : undefined;
  });
  expect(url).toMatch(/^http:/);
  expect(await doctor()).toMatchObject([
    { verdict: "ok", message: expect.stringContaining("Running: process") },
    { verdict: "ok" },
  ]);
  child.kill("SIGKILL");
  await exited;
  expect(await doctor()).toMatchObject([
    { verdict: "warning", message: expect.stringContaining("died without stopping") },
    { verdict: "ok" },
  ]);
  const [fixed] = await doctor("--fix");
  expect(fixed).toMatchObject({ verdict: "ok", fixed: true });
  const left = ["herdctl.lock.json", "herdctl.sock"].map((name) =>
    join(harness.folder, ".herdctl", name),
  );
  expect(left.filter((file) => existsSync(file))).toEqual([]);
  expect((await doctor())[0]).toMatchObject({ verdict: "ok" });
});
