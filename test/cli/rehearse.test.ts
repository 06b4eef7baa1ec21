import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownEnvironment, runClaude } from "../support/claude.ts";
import { folderWith } from "../support/folder.ts";
import { checkout, endOf, herdctl, ownEnv, program, type Run } from "./herdctl.ts";

const firstSteps = join(checkout, "examples/rehearsal/first-steps.yaml");

interface Rehearsing {
  /** What it has printed so far, once it matches. */
  printed(pattern: RegExp): Promise<string>;
  interrupt(): Promise<Run>;
}

function rehearse(args: string[], cwd: string): Rehearsing {
  const child: ChildProcess = spawn(program, ["rehearse", ...args], { cwd, env: ownEnv() });
  const ended = endOf(child);
  let text = "";
  child.stdout?.on("data", (data) => {
    text += data;
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    printed: async (pattern) => {
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
  const own = ownEnvironment(env);
  onTestFinished(own.dispose);
  return await runClaude(args, { version: "325", env: own.env, cwd: own.workspace });
}

test("the real claude talks to it with the variables it prints, and each request is a line", async () => {
  const rehearsal = rehearse([firstSteps], folderWith({}));
  const printed = await rehearsal.printed(/Ctrl-C ends it/);
  expect(printed).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+/);
  const lines = printed.matchAll(/^ {2}export (\w+)=(.*)$/gm);
  const env = Object.fromEntries([...lines].map(([, name, value]) => [name ?? "", value ?? ""]));

  const run = await claudeWith(env, ["which files are here?", "--allowedTools", "Bash"]);
  expect(run.result?.result).toBe("I have listed the files.");
  const { code, stdout } = await rehearsal.interrupt();
  expect(code).toBe(0);
  const requests = stdout.split("\n").filter((line) => / main +which files are here\?/.test(line));
  expect(requests).toHaveLength(2);
  for (const line of requests) expect(line).toMatch(/^\d\d:\d\d:\d\d 200 .* list the files$/);
});

test("with --json the address and each request are JSON lines, without the key", async () => {
  const rehearsal = rehearse([firstSteps, "--json"], folderWith({}));
  const [first = ""] = (await rehearsal.printed(/\n/)).split("\n");
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

test("it listens on a socket as well", async () => {
  const cwd = folderWith({});
  const rehearsal = rehearse(["--socket", join(cwd, "model.sock")], cwd);
  await rehearsal.printed(/Ctrl-C ends it/);
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

test("a wrong script is explained like a wrong configuration", async () => {
  const cwd = folderWith({
    "script.yaml": "rules:\n  - match: { promt: hello }\n    reply: Hi.\n",
  });
  const run = await herdctl(["rehearse", "script.yaml"], { cwd });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(
    /script\.yaml:2:14 .*`promt` is not known here\n +Did you mean `prompt`/,
  );
  const missing = await herdctl(["rehearse", "nowhere.yaml"], { cwd });
  expect(missing.code).toBe(2);
  expect(missing.stderr).toMatch(/nowhere\.yaml cannot be read/);
});

test("a port that is no port, or taken, is told", async () => {
  const cwd = folderWith({});
  const wrong = await herdctl(["rehearse", "--port", "http"], { cwd });
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toMatch(/"http" is not a port/);

  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const taken = await herdctl(["rehearse", "--port", port], { cwd });
  expect(taken).toMatchObject({ code: 3, stdout: "" });
  expect(taken.stderr).toMatch(/choose another port/);
});

describe("with a command after `--`", () => {
  const printEnv = [process.execPath, "-p", "JSON.stringify(process.env)"];

  test("it is run with the model, ends the rehearsal, and its exit code counts", async () => {
    const cwd = folderWith({});
    const ask = `fetch(process.env.ANTHROPIC_BASE_URL, { method: "HEAD" })`;
    const script = `${ask}.then(({ ok }) => { console.log({ ok }); process.exit(7); })`;
    const run = await herdctl(["rehearse", firstSteps, "--", process.execPath, "-e", script], {
      cwd,
    });
    expect(run).toMatchObject({ code: 7, stdout: "{ ok: true }\n" });
    expect(run.stderr).toContain("nothing was asked of the script");
  });

  test("nothing of the person's own sign-in is in its environment, and nothing stays", async () => {
    const own = {
      ANTHROPIC_API_KEY: "real",
      ANTHROPIC_AUTH_TOKEN: "real",
      CLAUDE_CODE_OAUTH_TOKEN: "real",
      CLAUDE_CONFIG_DIR: "/real",
      CLAUDECODE: "1",
    };
    const cwd = folderWith({});
    const { code, stdout } = await herdctl(["rehearse", "--", ...printEnv], { cwd, env: own });
    expect(code).toBe(0);
    expect(stdout).not.toContain("real");
    const env = JSON.parse(stdout);
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: "rehearsal", LANG: "C.UTF-8" });
    expect(env).not.toHaveProperty("CLAUDECODE");
    expect(existsSync(env.CLAUDE_CONFIG_DIR)).toBe(false);
  });

  test("a command that is not there, or without the dashes, is told", async () => {
    const cwd = folderWith({});
    const missing = await herdctl(["rehearse", firstSteps, "--", "no-such-program"], { cwd });
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("`no-such-program` cannot be run");
    const bare = await herdctl(["rehearse", firstSteps, "herdctl", "status"], { cwd });
    expect(bare).toMatchObject({ code: 2, stdout: "" });
    expect(bare.stderr).toContain("comes after `--`");
  });

  test("where a fleet runs it is refused: that one has a model of its own", async () => {
    const text = "version: 1\nfleet: { name: real }\nagents: [{ name: one }]\n";
    const cwd = folderWith({ "herdctl.yaml": text });
    const fleet = new FleetManager({ file: join(cwd, "herdctl.yaml"), env: {} });
    await fleet.initialize();
    onTestFinished(() => fleet.stop());
    const run = await herdctl(["rehearse", "--", "herdctl", "trigger", "one"], { cwd });
    expect(run).toMatchObject({ code: 3, stdout: "" });
    expect(run.stderr).toMatch(/a fleet with its own model runs here[\s\S]*herdctl stop/);
  });

  test("a signal reaches it", async () => {
    const cwd = folderWith({});
    const wait =
      "process.on('SIGTERM', () => process.exit(5)); console.log('up'); setInterval(() => {}, 1000)";
    const args = ["rehearse", "--", process.execPath, "-e", wait];
    const child = spawn(program, args, { cwd, env: ownEnv() });
    child.stdout.once("data", () => child.kill("SIGTERM"));
    expect(await endOf(child)).toMatchObject({ code: 5, stdout: "up\n" });
  });
});
