import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { UserError } from "../../errors/user-error.ts";
import { claudeArguments } from "./arguments.ts";
import { settingsOf } from "./claude-settings.ts";
import { confirmSettings } from "./confirm-settings.ts";
import { ControlClient } from "./control-client.ts";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";
import { Bridges } from "./mcp/bridges.ts";
import { watchProcess } from "./observe.ts";
import { writePrivateFiles } from "./private-files.ts";
import { SessionConverter } from "./session-file/convert.ts";
import { followSessionFile } from "./session-file/follow.ts";
import { sessionFilePath } from "./session-file/path.ts";
import { spawnOnHost } from "./spawn.ts";
import { streamFlags } from "./stream-flags.ts";
import { userMessage } from "./user-message.ts";
import { endProcess, windDown } from "./wind-down.ts";

/**
 * The CLI, with its messages read from the session file that it writes. The prompt goes in as a
 * message of the stream, because only that can say that it is verbatim; what the stream says back is
 * not used, and no permission request is answered.
 */
export class SessionFileRuntime implements RuntimeInterface {
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    refuseBridges(options);
    const files = writePrivateFiles(options);
    const { claude, cwd, env, session, agent, signal } = options;
    const file = options.sessionFile ?? usualFile(options);
    const from = session.kind === "resume" ? await sizeOf(file) : 0;
    const converter = new SessionConverter({ since: Date.now(), model: agent.model });

    const args = [...streamFlags({}), ...claudeArguments(options, files)];
    const spawn = options.spawn ?? spawnOnHost;
    const process = watchProcess(spawn({ file: claude, args, cwd, env }), options.observer);
    const client = new ControlClient(process, new Bridges(options));
    void discard(client.messages);
    const stop = () => {
      const interrupt = () => process.kill("SIGINT");
      void windDown({ process, interrupt, close: () => undefined });
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();

    try {
      const until = process.exited;
      await confirmSettings(client, settingsOf(options), options);
      client.say(userMessage(options));
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

function usualFile({ env, cwd, session }: ExecuteOptions): string {
  const configDir = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), ".claude");
  return sessionFilePath({ place: "cli", configDir, cwd }, session.sessionId);
}

/** Bridged servers need the control protocol, which this road leaves alone. */
function refuseBridges({ agent, bridgedServers = {} }: ExecuteOptions): void {
  const names = Object.keys(bridgedServers);
  if (names.length === 0) return;
  const servers = names.map((name) => `\`${name}\``).join(", ");
  throw new UserError(
    "usage",
    `\`${agent.name}\` reads the session file, and MCP servers outside its container cannot be reached that way: ${servers}`,
    { hint: "Use `stream: stdout`, or `run: container` for these servers." },
  );
}

/** The edge: what was converted has the shapes of the stream, as far as the file tells. */
function toSdkMessage(message: object): SDKMessage {
  return message as SDKMessage;
}

async function discard(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of messages);
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
