import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { UserError } from "@herdctl/protocol";
import { followSessionFile } from "../../claude/session-files/follow-session-file.ts";
import { SessionConverter } from "../../claude/session-files/session-converter.ts";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { buildUserMessage } from "./claude-handle.ts";
import { buildInvocation } from "./claude-options/build-invocation.ts";
import { buildCliArguments } from "./claude-options/cli-arguments.ts";
import { executeCompleted } from "./complete-execution.ts";
import { confirmStart } from "./confirm-start.ts";
import { ControlClient } from "./control-client.ts";
import { McpBridges } from "./mcp/bridges.ts";
import type { ExecuteOptions, ExecuteRequest, RuntimeInterface } from "./runtime-interface.ts";
import { endProcess, observeProcess, spawnOnHost, stopGracefully } from "./spawn-claude.ts";

/**
 * Runs the CLI and reads its messages from the session file. The prompt is sent as a stream message,
 * because only these can be marked as verbatim. The output stream is ignored, and permission requests
 * are not answered.
 */
export class SessionFileRuntime implements RuntimeInterface {
  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(request, (options) => this.follow(options));
  }

  private async *follow(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    rejectBridgedServers(options);
    const invocation = buildInvocation(options);
    const { env, settings, policy, files } = invocation;
    const { claude, cwd, session, agent, signal } = options;
    const file = options.sessionFile ?? defaultSessionFile(options);
    const from = session.kind === "resume" ? await fileSizeOf(file) : 0;
    const converter = new SessionConverter({ since: Date.now(), model: agent.model });

    const args = buildCliArguments(invocation, { agent });
    const spawn = options.spawn ?? spawnOnHost;
    const process = observeProcess(spawn({ file: claude, args, cwd, env }), options.observer);
    const client = new ControlClient(process, new McpBridges(options));
    const initialization = client.initialize(invocation.initialize);
    void drain(client.messages);
    const stop = () => {
      const interrupt = () => process.kill("SIGINT");
      void stopGracefully({ process, interrupt, close: () => undefined });
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();

    try {
      const until = process.exited;
      const readInitialization = () => initialization;
      const readSettings = () => client.readSettings();
      await confirmStart({ settings, policy, readInitialization, readSettings }, options);
      client.sendMessage(buildUserMessage(options));
      client.close();
      const neverAborted = new AbortController().signal;
      for await (const { line, subagent } of followSessionFile({
        file,
        from,
        signal: neverAborted,
        until,
      })) {
        for (const message of converter.convert(line, subagent)) yield toSdkMessage(message);
      }
      for (const message of converter.finish()) yield toSdkMessage(message);
    } finally {
      signal.removeEventListener("abort", stop);
      await endProcess(process);
      await files.remove();
    }
  }
}

function defaultSessionFile({ env, cwd, session }: ExecuteOptions): string {
  const configDir = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), ".claude");
  return sessionFilePath({ place: "cli", configDir, cwd }, session.sessionId);
}

/** Bridged servers need the control protocol, which this runtime does not use. */
function rejectBridgedServers({ agent, bridgedServers = {} }: ExecuteOptions): void {
  const names = Object.keys(bridgedServers);
  if (names.length === 0) return;
  const servers = names.map((name) => `\`${name}\``).join(", ");
  throw new UserError(
    "usage",
    `\`${agent.name}\` uses \`stream: session-file\`, which does not support MCP servers outside its container: ${servers}`,
    { hint: "Use `stream: stdout`, or `run: container` for these servers." },
  );
}

/** Not validated: converted messages have the format of the stream, as far as the file contains it. */
function toSdkMessage(message: object): SDKMessage {
  return message as SDKMessage;
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of messages);
}

async function fileSizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
