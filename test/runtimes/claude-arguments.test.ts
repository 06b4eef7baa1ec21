import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { CLIRuntime, type ExecuteOptions, type RuntimeInterface, SDKRuntime } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import type { SpawnCommand } from "../../packages/core/src/runner/runtimes/spawn-claude.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

interface StartedProgram {
  command: SpawnCommand;
  /** What the runtime wrote to standard input. */
  input: string;
  settings: unknown;
}

/** Starts a runtime whose program exits immediately, and returns how it was started. */
async function startedBy(
  runtime: RuntimeInterface,
  yaml: string,
  options: Partial<ExecuteOptions> = {},
): Promise<StartedProgram> {
  const commands: SpawnCommand[] = [];
  const stdin = new PassThrough();
  const privateDir = tempFolderWith({});
  let settings: unknown;
  const run = runtime.execute({
    agent: agentOf(loadTestFleet(inlineAgent(yaml)), "one"),
    prompt: "hello",
    session: { kind: "fresh", sessionId: "s1" },
    claude: "/opt/claude",
    claudeVersion: "2.1.325",
    cwd: "/work",
    env: { GREETING: "hello" },
    privateDir,
    privateDirAsSeen: "/private",
    signal: new AbortController().signal,
    spawn: (command) => {
      commands.push(command);
      settings = JSON.parse(readFileSync(join(privateDir, "settings.json"), "utf8"));
      const [stdout, stderr] = [new PassThrough().end(), new PassThrough().end()];
      const exited = Promise.resolve({ code: 0, signal: null });
      return { pid: undefined, stdin, stdout, stderr, exited, kill: () => undefined };
    },
    ...options,
  });
  for await (const message of run) expect.fail(`a program that wrote nothing: ${message.type}`);
  const [command, ...more] = commands;
  expect(more).toEqual([]);
  const input = String(stdin.read());
  return { command: command ?? expect.fail("nothing was started"), input, settings };
}

const runtimes: [name: string, create: () => RuntimeInterface][] = [
  ["CLIRuntime", () => new CLIRuntime()],
  ["SDKRuntime", () => new SDKRuntime()],
];

/** The flags in one order, each as `--name=value`. Only the CLI needs a flag for the print mode. */
function normalized(args: readonly string[]): string[] {
  const flags: string[] = [];
  for (const arg of args) {
    if (arg.startsWith("-")) flags.push(arg);
    else flags.push(`${flags.pop()}=${arg}`);
  }
  return flags.filter((flag) => flag !== "-p").sort();
}

const streams = [
  ...["--output-format=stream-json", "--verbose", "--input-format=stream-json"],
  "--include-hook-events",
];
const wakeups = "CronCreate,CronDelete,CronList,ScheduleWakeup";
const defaults = {
  "setting-sources": "user",
  settings: "/private/settings.json",
  "permission-mode": "default",
  "add-dir": "/work",
  disallowedTools: wakeups,
  "session-id": "s1",
};
const fork = { kind: "fork", from: "s0", sessionId: "s2" } as const;

const cases: [
  yaml: string,
  options: Partial<ExecuteOptions>,
  changed: Record<string, string | undefined>,
  added: string[],
][] = [
  ["max_concurrent: 1", {}, {}, []],
  ["model: opus\nfallback_model: sonnet", {}, { model: "opus", "fallback-model": "sonnet" }, []],
  ["effort: high", {}, { effort: "high" }, []],
  ["max_turns: 3", {}, { "max-turns": "3" }, []],
  ["max_budget_usd: 0.5", {}, { "max-budget-usd": "0.5" }, []],
  ["permission_mode: plan", {}, { "permission-mode": "plan" }, []],
  ["permission_mode: dontAsk", {}, { "permission-mode": "dontAsk" }, []],
  ["permission_mode: acceptEdits", {}, { "permission-mode": "acceptEdits" }, []],
  [
    "permission_mode: bypassPermissions",
    {},
    { "permission-mode": "bypassPermissions" },
    ["--allow-dangerously-skip-permissions"],
  ],
  ["allowed_tools: [Read, Bash]", {}, { allowedTools: "Read,Bash" }, []],
  ["denied_tools: [Write, Edit]", {}, { disallowedTools: `Write,Edit,${wakeups}` }, []],
  ["denied_tools: [Write]\nself_wakeup: true", {}, { disallowedTools: "Write" }, []],
  ["self_wakeup: true", {}, { disallowedTools: undefined }, []],
  ["setting_sources: [user, project]", {}, { "setting-sources": "user,project" }, []],
  ["setting_sources: []", {}, { "setting-sources": "" }, []],
  ["mcp_servers: { echo: { command: node } }", {}, { "mcp-config": "/private/mcp.json" }, []],
  ["plugins: [/opt/a, /opt/b]", {}, {}, ["--plugin-dir=/opt/a", "--plugin-dir=/opt/b"]],
  [
    "max_concurrent: 1",
    { session: { kind: "resume", sessionId: "s1" } },
    { "session-id": undefined, resume: "s1" },
    [],
  ],
  [
    "max_concurrent: 1",
    { session: fork },
    { "session-id": "s2", resume: "s0" },
    ["--fork-session"],
  ],
  [
    "max_concurrent: 1",
    { session: { ...fork, at: "m1" } },
    { "session-id": "s2", resume: "s0", "resume-session-at": "m1" },
    ["--fork-session"],
  ],
  ["max_concurrent: 1", { partialMessages: true }, {}, ["--include-partial-messages"]],
  [
    "max_concurrent: 1",
    { onPermission: async () => ({ behavior: "deny", message: "no" }) },
    {},
    ["--permission-prompt-tool=stdio"],
  ],
];

/** The fields of the first line on standard input, the control request `initialize`. */
function initializeOf({ input }: StartedProgram): Record<string, unknown> {
  const { request, type } = JSON.parse(input.split("\n")[0] ?? "");
  expect({ type, subtype: request.subtype }).toEqual({
    type: "control_request",
    subtype: "initialize",
  });
  return request;
}

describe.each(runtimes)("%s", (_name, create) => {
  test.each(cases)(
    "starts claude for `%s` with the right flags",
    async (yaml, options, changed, added) => {
      const { command } = await startedBy(create(), yaml, options);
      const expected = Object.entries({ ...defaults, ...changed }).flatMap(([flag, value]) =>
        value === undefined ? [] : [`--${flag}=${value}`],
      );
      expect(normalized(command.args)).toEqual(
        [...streams, "--strict-mcp-config", ...expected, ...added].sort(),
      );
    },
  );

  test("starts the given program in the workspace, with its environment", async () => {
    const { command } = await startedBy(create(), "max_concurrent: 1");
    expect(command).toMatchObject({ file: "/opt/claude", cwd: "/work" });
    expect(command.env).toMatchObject({ GREETING: "hello" });
    expect(command.env).not.toHaveProperty("PATH");
  });

  test("appends the system prompt without showing it in the arguments", async () => {
    const started = await startedBy(create(), "system_prompt: Be kind.");
    expect(started.command.args.join(" ")).not.toContain("Be kind.");
    expect(initializeOf(started)).toMatchObject({ appendSystemPrompt: "Be kind." });
    expect(initializeOf(started)).not.toHaveProperty("systemPrompt");
  });

  test("passes settings in a private file", async () => {
    const { settings } = await startedBy(create(), "max_concurrent: 1", {
      settings: { outputStyle: "short" },
      env: { CLAUDE_CODE_DISABLE_CRON: "1" },
    });
    expect(settings).toEqual({
      cleanupPeriodDays: 36500,
      env: { CLAUDE_CODE_DISABLE_CRON: "1" },
      outputStyle: "short",
    });
  });
});
