import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { type ClaudeHandle, type MultiTurnRuntime, runSinglePrompt } from "./claude-handle.ts";
import { buildInvocation } from "./claude-options/build-invocation.ts";
import { buildCliArguments } from "./claude-options/cli-arguments.ts";
import { executeCompleted } from "./complete-execution.ts";
import { ControlClient } from "./control-client.ts";
import { McpBridges } from "./mcp/bridges.ts";
import type { ExecuteOptions, ExecuteRequest } from "./runtime-interface.ts";
import { endProcess, observeProcess, spawnOnHost, stopGracefully } from "./spawn-claude.ts";

/** Runs the `claude` program over its standard streams; works with a subscription. */
export class CLIRuntime implements MultiTurnRuntime {
  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(request, (options) => runSinglePrompt(this.open(options), options));
  }

  async open(options: ExecuteOptions): Promise<ClaudeHandle> {
    const mcpBridges = new McpBridges(options);
    const invocation = buildInvocation(options, mcpBridges.names);
    const { env, settings, policy, files } = invocation;
    const spawn = options.spawn ?? spawnOnHost;
    const { claude: file, cwd } = options;
    const args = buildCliArguments(invocation, options);
    const process = observeProcess(spawn({ file, args, cwd, env }), options.observer);
    const client = new ControlClient(process, mcpBridges, options.onElicitation);
    const initialization = client.initialize(invocation.initialize);
    mcpBridges.open();
    const close = () => client.close();
    return {
      messages: client.messages,
      exited: process.exited,
      settings,
      policy,
      readInitialization: () => initialization,
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
