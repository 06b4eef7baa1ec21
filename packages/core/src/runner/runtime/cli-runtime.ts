import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { claudeArguments } from "./arguments.ts";
import { settingsOf } from "./claude-settings.ts";
import { ControlClient } from "./control-client.ts";
import type { ExecuteOptions } from "./interface.ts";
import { Bridges } from "./mcp/bridges.ts";
import { watchProcess } from "./observe.ts";
import { type OpenClaude, type OpeningRuntime, runOnce } from "./open-claude.ts";
import { writePrivateFiles } from "./private-files.ts";
import { spawnOnHost } from "./spawn.ts";
import { streamFlags } from "./stream-flags.ts";
import { endProcess, windDown } from "./wind-down.ts";

/** The `claude` program itself, driven over its standard streams: what a subscription pays for. */
export class CLIRuntime implements OpeningRuntime {
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    yield* runOnce(await this.open(options), options);
  }

  async open(options: ExecuteOptions): Promise<OpenClaude> {
    const bridges = new Bridges(options);
    const files = writePrivateFiles(options, bridges.names);
    const spawn = options.spawn ?? spawnOnHost;
    const { claude: file, cwd, env } = options;
    const args = [...streamFlags(options), ...claudeArguments(options, files)];
    const process = watchProcess(spawn({ file, args, cwd, env }), options.observer);
    const client = new ControlClient(process, bridges);
    bridges.open();
    const close = () => client.close();
    return {
      messages: client.messages,
      exited: process.exited,
      settings: settingsOf(options),
      readSettings: () => client.readSettings(),
      say: (message) => client.say(message),
      stop: () => void windDown({ process, interrupt: () => client.interrupt(), close }),
      finish: () => {
        close();
        void endProcess(process);
        void bridges.close();
      },
      close: async () => {
        close();
        await Promise.all([endProcess(process), bridges.close()]);
        await files.remove();
      },
    };
  }
}
