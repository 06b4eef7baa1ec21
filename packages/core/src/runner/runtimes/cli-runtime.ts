import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { buildClaudeArguments, buildStreamFlags } from "./claude-arguments.ts";
import { type ClaudeHandle, type MultiTurnRuntime, runSinglePrompt } from "./claude-handle.ts";
import { buildSettings, writePrivateFiles } from "./claude-settings.ts";
import { executeCompleted } from "./complete-execution.ts";
import { ControlClient } from "./control-client.ts";
import { McpBridges } from "./mcp/bridges.ts";
import type { ExecuteOptions, ExecuteRequest } from "./runtime-interface.ts";
import { spawnOnHost } from "./spawn-claude.ts";
import { endProcess, observeProcess, stopGracefully } from "./stop-process.ts";

/** Runs the `claude` program over its standard streams; works with a subscription. */
export class CLIRuntime implements MultiTurnRuntime {
  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(request, (options) => runSinglePrompt(this.open(options), options));
  }

  async open(options: ExecuteOptions): Promise<ClaudeHandle> {
    const mcpBridges = new McpBridges(options);
    const files = writePrivateFiles(options, mcpBridges.names);
    const spawn = options.spawn ?? spawnOnHost;
    const { claude: file, cwd, env } = options;
    const args = [...buildStreamFlags(options), ...buildClaudeArguments(options, files)];
    const process = observeProcess(spawn({ file, args, cwd, env }), options.observer);
    const client = new ControlClient(process, mcpBridges);
    mcpBridges.open();
    const close = () => client.close();
    return {
      messages: client.messages,
      exited: process.exited,
      settings: buildSettings(options),
      readSettings: () => client.readSettings(),
      sendMessage: (message) => client.sendMessage(message),
      stop: () => void stopGracefully({ process, interrupt: () => client.interrupt(), close }),
      finish: () => {
        close();
        void endProcess(process);
        void mcpBridges.close();
      },
      close: async () => {
        close();
        await Promise.all([endProcess(process), mcpBridges.close()]);
        await files.remove();
      },
    };
  }
}
