import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { claudeArguments } from "./arguments.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { ControlClient } from "./control-client.ts";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";
import { Bridges } from "./mcp/bridges.ts";
import { watchProcess } from "./observe.ts";
import { writePrivateFiles } from "./private-files.ts";
import { spawnOnHost } from "./spawn.ts";
import { endProcess, windDown } from "./wind-down.ts";

/** The `claude` program itself, driven over its standard streams: what a subscription pays for. */
export class CLIRuntime implements RuntimeInterface {
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const bridges = new Bridges(options);
    const files = writePrivateFiles(options, bridges.names);
    const spawn = options.spawn ?? spawnOnHost;
    const { claude: file, cwd, env } = options;
    const args = [...streamFlags(options), ...claudeArguments(options, files)];
    const process = watchProcess(spawn({ file, args, cwd, env }), options.observer);
    const client = new ControlClient(process, bridges);
    const stop = () => {
      const run = { process, interrupt: () => client.interrupt(), close: () => client.close() };
      void windDown(run);
    };
    options.signal.addEventListener("abort", stop, { once: true });
    if (options.signal.aborted) stop();

    try {
      bridges.open();
      client.say(options.prompt);
      const tasks = new BackgroundTasks();
      for await (const message of client.messages) {
        const last = tasks.isLastWord(message);
        if (last) {
          client.close();
          void endProcess(process);
          void bridges.close();
        }
        yield message;
      }
      await process.exited;
    } finally {
      options.signal.removeEventListener("abort", stop);
      client.close();
      await Promise.all([endProcess(process), bridges.close()]);
      await files.remove();
    }
  }
}

function streamFlags({ onPermission, partialMessages }: ExecuteOptions): string[] {
  return [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    ...(onPermission ? ["--permission-prompt-tool=stdio"] : []),
    ...(partialMessages ? ["--include-partial-messages"] : []),
  ];
}
