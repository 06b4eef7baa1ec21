import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core/internal";
import { describe, expect, onTestFinished, test } from "vitest";
import { createIsolatedEnvironment, runClaude } from "../support/claude-binaries.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  type CommandResult,
  checkout,
  minimalEnv,
  program,
  runHerdctl,
  waitForExit,
} from "./run-herdctl.ts";

const firstSteps = join(checkout, "examples/rehearsal/first-steps.yaml");

interface RehearseProcess {
  /** The output so far, once it matches. */
  waitForOutput(pattern: RegExp): Promise<string>;
  interrupt(): Promise<CommandResult>;
}

function rehearse(args: string[], cwd: string): RehearseProcess {
  const child: ChildProcess = spawn(program, ["rehearse", ...args], { cwd, env: minimalEnv() });
  const ended = waitForExit(child);
  let text = "";
  child.stdout?.on("data", (data) => {
    text += data;
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    waitForOutput: async (pattern) => {
      while (!pattern.test(text)) {
        if (child.exitCode !== null) throw new Error(`it ended, and printed: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return text;
    },
    interrupt: async () => {
      child.kill("SIGINT");
      return await ended;
    },
  };
}

async function claudeWith(env: Record<string, string>, args: string[]) {
  const own = createIsolatedEnvironment(env);
  onTestFinished(own.dispose);
  return await runClaude(args, { version: "325", env: own.env, cwd: own.workspace });
}

test("serves the real claude with the printed variables and prints one line per request", async () => {
  const rehearsal = rehearse([firstSteps], tempFolderWith({}));
  const waitForOutput = await rehearsal.waitForOutput(/Press Ctrl-C to stop it/);
  expect(waitForOutput).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+/);
  const lines = waitForOutput.matchAll(/^ {2}export (\w+)=(.*)$/gm);
  const env = Object.fromEntries([...lines].map(([, name, value]) => [name ?? "", value ?? ""]));

  const run = await claudeWith(env, ["which files are here?", "--allowedTools", "Bash"]);
  expect(run.result?.result).toBe("I have listed the files.");
  const { code, stdout } = await rehearsal.interrupt();
  expect(code).toBe(0);
  const requests = stdout.split("\n").filter((line) => / main +which files are here\?/.test(line));
  expect(requests).toHaveLength(2);
  for (const line of requests) expect(line).toMatch(/^\d\d:\d\d:\d\d 200 .* list the files$/);
});

test("prints the address and each request as JSON lines without the key with --json", async () => {
  const rehearsal = rehearse([firstSteps, "--json"], tempFolderWith({}));
  const [first = ""] = (await rehearsal.waitForOutput(/\n/)).split("\n");
  const { url, env } = JSON.parse(first);
  expect(env.ANTHROPIC_BASE_URL).toBe(url);
  await claudeWith({ ...env, ANTHROPIC_API_KEY: "made-up-key" }, ["hello"]);
  const { code, stdout } = await rehearsal.interrupt();
  expect(code).toBe(0);
  const entries = stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));
  const main = entries.filter((entry) => entry.kind === "main");
  expect(main).toMatchObject([{ prompt: "hello", status: 200, end: "answered", key: "x-api-key" }]);
  expect(stdout).not.toContain("made-up-key");
});

test("listens on a socket as well", async () => {
  const cwd = tempFolderWith({});
  const rehearsal = rehearse(["--socket", join(cwd, "model.sock")], cwd);
  await rehearsal.waitForOutput(/Press Ctrl-C to stop it/);
  const run = await claudeWith(
    {
      ANTHROPIC_UNIX_SOCKET: join(cwd, "model.sock"),
      ANTHROPIC_BASE_URL: "http://127.0.0.1",
      ANTHROPIC_API_KEY: "made-up-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
    ["hello"],
  );
  expect(run).toMatchObject({ code: 0, result: { is_error: false } });
  expect((await rehearsal.interrupt()).code).toBe(0);
});

test("explains an invalid script like an invalid configuration", async () => {
  const cwd = tempFolderWith({
    "script.yaml": "rules:\n  - match: { promt: hello }\n    reply: Hi.\n",
  });
  const run = await runHerdctl(["rehearse", "script.yaml"], { cwd });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/script\.yaml:2:14 .*unknown key `promt`\n +Did you mean `prompt`/);
  const missing = await runHerdctl(["rehearse", "nowhere.yaml"], { cwd });
  expect(missing.code).toBe(2);
  expect(missing.stderr).toMatch(/nowhere\.yaml cannot be read/);
});

test("explains an invalid port and one that is in use", async () => {
  const cwd = tempFolderWith({});
  const wrong = await runHerdctl(["rehearse", "--port", "http"], { cwd });
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toMatch(/"http" is not a port/);

  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const taken = await runHerdctl(["rehearse", "--port", port], { cwd });
  expect(taken).toMatchObject({ code: 3, stdout: "" });
  expect(taken.stderr).toMatch(/choose another port/);
});

describe("rehearse with a command after `--`", () => {
  const printEnv = [process.execPath, "-p", "JSON.stringify(process.env)"];

  test("runs the command with the model, then stops and returns its exit code", async () => {
    const cwd = tempFolderWith({});
    const ask = `fetch(process.env.ANTHROPIC_BASE_URL, { method: "HEAD" })`;
    const script = `${ask}.then(({ ok }) => { console.log({ ok }); process.exit(7); })`;
    const run = await runHerdctl(["rehearse", firstSteps, "--", process.execPath, "-e", script], {
      cwd,
    });
    expect(run).toMatchObject({ code: 7, stdout: "{ ok: true }\n" });
    expect(run.stderr).toContain("the scripted model received no requests");
  });

  test("hides the person's own sign-in from the command and leaves nothing behind", async () => {
    const own = {
      ANTHROPIC_API_KEY: "real",
      ANTHROPIC_AUTH_TOKEN: "real",
      CLAUDE_CODE_OAUTH_TOKEN: "real",
      CLAUDE_CONFIG_DIR: "/real",
      CLAUDECODE: "1",
    };
    const cwd = tempFolderWith({});
    const { code, stdout } = await runHerdctl(["rehearse", "--", ...printEnv], { cwd, env: own });
    expect(code).toBe(0);
    expect(stdout).not.toContain("real");
    const env = JSON.parse(stdout);
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: "rehearsal-key", LANG: "C.UTF-8" });
    expect(env).not.toHaveProperty("CLAUDECODE");
    expect(existsSync(env.CLAUDE_CONFIG_DIR)).toBe(false);
  });

  test("explains an unknown command and missing dashes", async () => {
    const cwd = tempFolderWith({});
    const missing = await runHerdctl(["rehearse", firstSteps, "--", "no-such-program"], { cwd });
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("`no-such-program` cannot be run");
    const bare = await runHerdctl(["rehearse", firstSteps, "herdctl", "status"], { cwd });
    expect(bare).toMatchObject({ code: 2, stdout: "" });
    expect(bare.stderr).toContain("after `--`");
  });

  test("refuses to run where a fleet with another model runs", async () => {
    const text = "version: 1\nfleet: { name: real }\nagents: [{ name: one }]\n";
    const cwd = tempFolderWith({ "herdctl.yaml": text });
    const fleet = new FleetManager({ file: join(cwd, "herdctl.yaml"), env: {} });
    await fleet.initialize();
    onTestFinished(() => fleet.shutdown());
    const run = await runHerdctl(["rehearse", "--", "herdctl", "trigger", "one"], { cwd });
    expect(run).toMatchObject({ code: 3, stdout: "" });
    expect(run.stderr).toMatch(/the fleet of this folder is running[\s\S]*herdctl stop/);
  });

  test("forwards a signal to the command", async () => {
    const cwd = tempFolderWith({});
    const wait =
      "process.on('SIGTERM', () => process.exit(5)); console.log('up'); setInterval(() => {}, 1000)";
    const args = ["rehearse", "--", process.execPath, "-e", wait];
    const child = spawn(program, args, { cwd, env: minimalEnv() });
    child.stdout.once("data", () => child.kill("SIGTERM"));
    expect(await waitForExit(child)).toMatchObject({ code: 5, stdout: "up\n" });
  });
});
