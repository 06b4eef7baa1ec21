import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Environment } from "../../config/environment.ts";
import { RunContainer } from "../container/run-container.ts";
import type { DockerConfig } from "./docker-config.ts";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";

/** Runs any runtime's `claude` in a container of its own. The runtime does not know. */
export class ContainerRunner implements RuntimeInterface {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly config: DockerConfig,
    private readonly stateDir: string,
    /** Names the engine, as for the `docker` command. */
    private readonly environment: Environment = process.env,
  ) {}

  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const { config, stateDir, environment } = this;
    const container = await RunContainer.open({ config, stateDir, environment }, options);
    try {
      yield* this.runtime.execute(container.options);
    } finally {
      await container.remove();
    }
  }
}
