import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Environment } from "@herdctl/config";
import type { DockerConfig } from "../../docker/docker-config.ts";
import { captureBaseline, isContainerUnusable } from "../containers/container-reuse.ts";
import { RunContainer, type RunContainerOptions } from "../containers/run-container.ts";
import { type ClaudeHandle, type MultiTurnRuntime, runSinglePrompt } from "./claude-handle.ts";
import { executeCompleted } from "./complete-execution.ts";
import type { ExecuteOptions, ExecuteRequest, RuntimeInterface } from "./runtime-interface.ts";

/** Runs the `claude` of any runtime in a separate container, transparently for the runtime. */
export class ContainerRunner implements RuntimeInterface {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly config: DockerConfig,
    private readonly stateDir: string,
    /** Selects the engine with the same variables as the `docker` command. */
    private readonly environment: Environment = process.env,
  ) {}

  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(request, (options) => this.run(options), this.environment);
  }

  private async *run(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const { config, stateDir, environment } = this;
    const container = await RunContainer.open({ config, stateDir, environment }, options);
    try {
      yield* this.runtime.execute(container.options);
    } finally {
      await container.remove();
    }
  }
}

/** Runs `claude` for several prompts in one container, which is removed when `claude` is closed. */
export class ContainerSessionRuntime implements MultiTurnRuntime {
  constructor(
    private readonly runtime: MultiTurnRuntime,
    private readonly containerOptions: RunContainerOptions,
  ) {}

  execute(request: ExecuteRequest): AsyncGenerator<SDKMessage> {
    return executeCompleted(
      request,
      (options) => runSinglePrompt(this.open(options), options),
      this.containerOptions.environment,
    );
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
    readInitialization: () => claude.readInitialization(),
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
