import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Environment } from "@herdctl/config";
import type { DockerConfig } from "../../docker/docker-config.ts";
import { RunContainer } from "../containers/run-container.ts";
import type { ExecuteOptions, RuntimeInterface } from "./runtime-interface.ts";

/** Runs the `claude` of any runtime in a separate container, transparently for the runtime. */
export class ContainerRunner implements RuntimeInterface {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly config: DockerConfig,
    private readonly stateDir: string,
    /** Selects the engine with the same variables as the `docker` command. */
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
