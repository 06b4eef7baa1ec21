import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { captureBaseline, isContainerUnusable } from "../containers/process-baseline.ts";
import { RunContainer, type RunContainerOptions } from "../containers/run-container.ts";
import { type ClaudeHandle, type MultiTurnRuntime, runSinglePrompt } from "./claude-handle.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/** Runs `claude` for several prompts in one container, which is removed when `claude` is closed. */
export class ContainerSessionRuntime implements MultiTurnRuntime {
  constructor(
    private readonly runtime: MultiTurnRuntime,
    private readonly containerOptions: RunContainerOptions,
  ) {}

  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    yield* runSinglePrompt(await this.open(options), options);
  }

  async open(options: ExecuteOptions): Promise<ClaudeHandle> {
    const container = await RunContainer.open(this.containerOptions, options);
    try {
      const claude = await this.runtime.open(container.options);
      // Captured before the first prompt, while `claude` starts.
      const baseline = await captureBaseline(container.manager, container.id);
      return attachContainer(claude, container, () =>
        isContainerUnusable(container.manager, container.id, baseline),
      );
    } catch (error) {
      await container.remove();
      throw error;
    }
  }
}

function attachContainer(
  claude: ClaudeHandle,
  container: RunContainer,
  isUnusable: () => Promise<boolean>,
): ClaudeHandle {
  return {
    messages: claude.messages,
    get exited() {
      return claude.exited;
    },
    settings: claude.settings,
    readSettings: () => claude.readSettings(),
    sendMessage: (message) => claude.sendMessage(message),
    stop: () => claude.stop(),
    finish: () => claude.finish(),
    close: async () => {
      try {
        await claude.close();
      } finally {
        await container.remove();
      }
    },
    container: { isOutdated: () => container.isOutdated(), isUnusable },
  };
}
