import { EventEmitter } from "node:events";
import type {
  CanUseTool,
  createSdkMcpServer,
  McpSdkServerConfigWithInstance,
  OnElicitation,
  Options,
  Query,
  SDKMessage,
  SDKUserMessage,
  SpawnedProcess,
} from "@anthropic-ai/claude-agent-sdk";
import type { ResolvedAgent } from "@herdctl/config";
import { raceTimeout, UserError } from "@herdctl/protocol";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";
import { readSuggestedRules } from "../contract/permission-rules.ts";
import {
  type ClaudeHandle,
  MessageQueue,
  type MultiTurnRuntime,
  runSinglePrompt,
} from "./claude-handle.ts";
import { buildInvocation } from "./claude-options/build-invocation.ts";
import { buildSdkOptions } from "./claude-options/sdk-options.ts";
import { executeCompleted } from "./complete-execution.ts";
import type { McpBridge } from "./mcp/bridge.ts";
import { McpBridges } from "./mcp/bridges.ts";
import { isRequest } from "./mcp/method-rules.ts";
import { toServerOptions } from "./private-files.ts";
import type { ExecuteOptions, ExecuteRequest } from "./runtime-interface.ts";
import {
  type ClaudeProcess,
  endProcess,
  observeProcess,
  spawnOnHost,
  stopGracefully,
} from "./spawn-claude.ts";

/** Runs the Agent SDK's `query()` with options that match the flags of the CLI runtime. */
export class SDKRuntime implements MultiTurnRuntime {
  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(request, (options) => runSinglePrompt(this.open(options), options));
  }

  async open(options: ExecuteOptions): Promise<ClaudeHandle> {
    const { query, createSdkMcpServer } = await importSdk();
    const bridges = new McpBridges(options);
    const invocation = buildInvocation(options);
    const { settings, policy, files } = invocation;
    const input = new MessageQueue<SDKUserMessage>();
    let process: ClaudeProcess | undefined;
    let start: (running: ClaudeProcess) => void = () => undefined;
    const exited = new Promise<void>((resolve) => {
      start = (running) => {
        process = running;
        void running.exited.then(() => resolve());
      };
    });
    const mcpServers = createSdkServers(bridges, options.agent, createSdkMcpServer);
    const run = query({
      // The input stays open until the run has finished.
      prompt: input,
      options: {
        ...buildSdkOptions(invocation),
        ...processOptions(options, start),
        canUseTool: options.agent.permission_prompt_tool
          ? undefined
          : bridges.onPermission && canUseTool(bridges.onPermission),
        onElicitation: elicitWith(options.onElicitation),
        mcpServers,
      },
    });
    return {
      messages: readMessages(run, () => process !== undefined),
      get exited() {
        return process?.exited ?? Promise.resolve();
      },
      settings,
      policy,
      readInitialization: () => readInitializationOf(run, exited),
      readSettings: () => Promise.race([readSettingsOf(run), exited]),
      sendMessage: (message) => input.push(message),
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
 * `query()` throws after an error result, and if the process exits without a result. Both are already
 * known from the result or from the observer's `onExited`, so only errors before the start are
 * rethrown.
 */
async function* readMessages(run: Query, hasStarted: () => boolean): AsyncGenerator<SDKMessage> {
  try {
    yield* run;
  } catch (error) {
    if (!hasStarted()) throw error;
  }
}

/** A method of the SDK that is missing in its types. */
const settingsReaderSchema = z.looseObject({
  getSettings: z.custom<() => Promise<unknown>>((value) => typeof value === "function"),
});

async function readSettingsOf(run: Query): Promise<unknown> {
  const { data } = settingsReaderSchema.safeParse({ getSettings: Reflect.get(run, "getSettings") });
  // If the program has exited, `onExited` reports it.
  return await data?.getSettings.call(run).catch(() => undefined);
}

async function readInitializationOf(run: Query, exited: Promise<void>): Promise<unknown> {
  try {
    return await Promise.race([run.initializationResult(), exited]);
  } catch (error) {
    // If the program has exited, `onExited` reports it.
    return await raceTimeout(exited, exitNoticeMs, () => ({ error: describeError(error) }));
  }
}

/** The SDK may notice the exit of the program before `exited` resolves. */
const exitNoticeMs = 500;

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function stopRun(
  run: Query,
  input: MessageQueue<SDKUserMessage>,
  process: ClaudeProcess | undefined,
): Promise<void> {
  if (!process) return input.end();
  const interrupt = () => void run.interrupt().catch(() => undefined);
  await stopGracefully({ process, interrupt, close: () => input.end() });
}

/** Starts the given program instead of the one that the SDK brings. */
function processOptions(
  options: ExecuteOptions,
  onStart: (process: ClaudeProcess) => void,
): Options {
  return {
    cwd: options.cwd,
    pathToClaudeCodeExecutable: options.claude,
    spawnClaudeCodeProcess: ({ command, args, env }) => {
      const spawn = options.spawn ?? spawnOnHost;
      const spawnCommand = { file: command, args, cwd: options.cwd, env: definedOnly(env) };
      const process = observeProcess(spawn(spawnCommand), options.observer);
      onStart(process);
      return new SdkProcess(process);
    },
  };
}

function canUseTool(ask: NonNullable<ExecuteOptions["onPermission"]>): CanUseTool {
  return (tool, input, { signal, toolUseID, description, suggestions }) => {
    const suggestedRules = readSuggestedRules(tool, suggestions);
    return ask({ tool, input, toolUseId: toolUseID, description, suggestedRules }, signal);
  };
}

function elicitWith(ask: ExecuteOptions["onElicitation"]): OnElicitation {
  return async ({ serverName: server, message, mode = "form", url, requestedSchema }, { signal }) =>
    (await ask?.({ server, message, mode, url, schema: requestedSchema }, signal)) ?? {
      action: "cancel",
    };
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

/** Adapts a `ClaudeProcess` to the interface of the SDK. */
class SdkProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin: SpawnedProcess["stdin"];
  readonly stdout: SpawnedProcess["stdout"];
  exitCode: number | null = null;
  killed = false;

  constructor(private readonly process: ClaudeProcess) {
    super();
    this.stdin = process.stdin;
    this.stdout = process.stdout;
    void process.exited.then(({ code, signal, failure }) => {
      this.exitCode = code;
      if (failure === undefined) this.emit("exit", code, signal);
      else this.emit("error", new Error(`the process could not be started (${failure})`));
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed = true;
    this.process.kill(signal);
    return true;
  }
}

/** Adapts bridged servers to SDK servers whose messages are forwarded to the bridges. */
function createSdkServers(
  bridges: McpBridges,
  { mcp_servers: configs }: Pick<ResolvedAgent, "mcp_servers">,
  create: typeof createSdkMcpServer,
): Record<string, McpSdkServerConfigWithInstance> {
  return Object.fromEntries(
    bridges.entries().map(([name, bridge]) => {
      const server = create({ name });
      server.instance.connect = (transport) => attachBridge(bridge, transport);
      const { [name]: config } = configs;
      return [name, { ...server, ...(config && toServerOptions(config)) }];
    }),
  );
}

async function attachBridge(bridge: McpBridge, transport: Transport): Promise<void> {
  // The SDK closes the transport at the end of the run, when responses are no longer needed.
  const send: Transport["send"] = (message) => transport.send(message).catch(() => undefined);
  transport.onmessage = (message) => {
    if (isRequest(message)) void bridge.sendRequest(message).then((answer) => send(answer));
    else bridge.notify(message);
  };
  bridge.setListener((serverMessage) => void send(serverMessage));
  await transport.start();
}
