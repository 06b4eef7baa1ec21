import type {
  CanUseTool,
  Options,
  Query,
  SDKMessage,
  SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import { deniedTools, settingsOf } from "./claude-settings.ts";
import type { ExecuteOptions } from "./interface.ts";
import { Bridges } from "./mcp/bridges.ts";
import { sdkServers } from "./mcp/sdk-servers.ts";
import { MessageQueue } from "./message-queue.ts";
import { watchProcess } from "./observe.ts";
import { type OpenClaude, type OpeningRuntime, runOnce } from "./open-claude.ts";
import { type PrivateFiles, writePrivateFiles } from "./private-files.ts";
import { SdkProcess } from "./sdk-process.ts";
import { type ClaudeProcess, spawnOnHost } from "./spawn.ts";
import { endProcess, windDown } from "./wind-down.ts";

/** The Agent SDK's `query()`, with the same choices that the CLI runtime makes by flags. */
export class SDKRuntime implements OpeningRuntime {
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    yield* runOnce(await this.open(options), options);
  }

  async open(options: ExecuteOptions): Promise<OpenClaude> {
    const { query, createSdkMcpServer } = await importSdk();
    const bridges = new Bridges(options);
    const files = writePrivateFiles(options);
    const input = new MessageQueue<SDKUserMessage>();
    let process: ClaudeProcess | undefined;
    let start: (running: ClaudeProcess) => void = () => undefined;
    const exited = new Promise<void>((resolve) => {
      start = (running) => {
        process = running;
        void running.exited.then(() => resolve());
      };
    });
    const mcpServers = sdkServers(bridges, createSdkMcpServer);
    const run = query({
      // An open end keeps the run ours until it has nothing more to do.
      prompt: input,
      options: {
        ...sdkOptions({ ...options, onPermission: bridges.onPermission }, files, start),
        mcpServers,
      },
    });
    return {
      messages: messagesOf(run, () => process !== undefined),
      get exited() {
        return process?.exited ?? Promise.resolve();
      },
      settings: settingsOf(options),
      readSettings: () => Promise.race([settingsFrom(run), exited]),
      say: (message) => input.push(message),
      stop: () => void stopRun(run, input, process),
      finish: () => {
        input.end();
        if (process) void endProcess(process);
        void bridges.close();
      },
      close: async () => {
        input.end();
        await Promise.all([process && endProcess(process), bridges.close()]);
        await files.remove();
      },
    };
  }
}

/**
 * `query()` throws after an error result, and when the process ends without one. Both are told
 * already, by the result or by the exit that the observer saw; only what kept the process from
 * starting is news.
 */
async function* messagesOf(run: Query, hasStarted: () => boolean): AsyncGenerator<SDKMessage> {
  try {
    yield* run;
  } catch (error) {
    if (!hasStarted()) throw error;
  }
}

/** The SDK has the request as a method that its types do not name. */
const settingsReader = z.looseObject({
  getSettings: z.custom<() => Promise<unknown>>((value) => typeof value === "function"),
});

async function settingsFrom(run: Query): Promise<unknown> {
  const { data } = settingsReader.safeParse({ getSettings: Reflect.get(run, "getSettings") });
  // A program that has ended has nothing to say about settings; its end is told elsewhere.
  return await data?.getSettings.call(run).catch(() => undefined);
}

async function stopRun(
  run: Query,
  input: MessageQueue<SDKUserMessage>,
  process: ClaudeProcess | undefined,
): Promise<void> {
  if (!process) return input.end();
  const interrupt = () => void run.interrupt().catch(() => undefined);
  await windDown({ process, interrupt, close: () => input.end() });
}

function sdkOptions(
  options: ExecuteOptions,
  files: PrivateFiles,
  onStart: (process: ClaudeProcess) => void,
): Options {
  const { agent, session } = options;
  return {
    cwd: options.cwd,
    env: options.env,
    pathToClaudeCodeExecutable: options.claude,
    systemPrompt: { type: "preset", preset: "claude_code", append: agent.system_prompt },
    settingSources: [...agent.setting_sources],
    strictMcpConfig: true,
    settings: JSON.stringify(settingsOf(options)),
    extraArgs: {
      ...(files.mcpConfig !== undefined && { "mcp-config": files.mcpConfig }),
      // As options, both make the SDK warn that we might not be asked; claude's questions still come.
      "permission-mode": agent.permission_mode,
      ...(agent.allowed_tools.length > 0 && { allowedTools: agent.allowed_tools.join(",") }),
    },
    additionalDirectories: [options.cwd],
    allowDangerouslySkipPermissions: agent.permission_mode === "bypassPermissions",
    canUseTool: options.onPermission && canUseTool(options.onPermission),
    disallowedTools: deniedTools(agent),
    plugins: agent.plugins.map((path) => ({ type: "local", path })),
    model: agent.model,
    fallbackModel: agent.fallback_model,
    effort: agent.effort,
    maxTurns: agent.max_turns,
    maxBudgetUsd: agent.max_budget_usd,
    includePartialMessages: options.partialMessages,
    sessionId: session.kind === "resume" ? undefined : session.sessionId,
    resume:
      session.kind === "fresh"
        ? undefined
        : session.kind === "fork"
          ? session.from
          : session.sessionId,
    forkSession: session.kind === "fork",
    resumeSessionAt: session.kind === "fork" ? session.at : undefined,
    spawnClaudeCodeProcess: ({ command, args, env }) => {
      const spawn = options.spawn ?? spawnOnHost;
      const started = { file: command, args, cwd: options.cwd, env: definedOnly(env) };
      const process = watchProcess(spawn(started), options.observer);
      onStart(process);
      return new SdkProcess(process);
    },
  };
}

function canUseTool(ask: NonNullable<ExecuteOptions["onPermission"]>): CanUseTool {
  return (tool, input, { signal, toolUseID, description }) =>
    ask({ tool, input, toolUseId: toolUseID, description }, signal);
}

function definedOnly(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export async function importSdk(): Promise<typeof import("@anthropic-ai/claude-agent-sdk")> {
  try {
    return await import("@anthropic-ai/claude-agent-sdk");
  } catch (cause) {
    throw new UserError(
      "sdk_missing",
      "the package @anthropic-ai/claude-agent-sdk cannot be loaded",
      { cause },
    );
  }
}
