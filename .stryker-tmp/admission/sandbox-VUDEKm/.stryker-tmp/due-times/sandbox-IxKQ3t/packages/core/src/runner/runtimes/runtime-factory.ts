import type { Environment, ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { resolveDockerConfig } from "../../docker/docker-config.ts";
import { CLIRuntime } from "./cli-runtime.ts";
import { ContainerRunner } from "./container-runner.ts";
import { ContainerSessionRuntime } from "./container-session-runtime.ts";
import { KeepAliveRuntime } from "./keep-alive-runtime.ts";
import type { RuntimeInterface } from "./runtime-interface.ts";
import { SDKRuntime } from "./sdk-runtime.ts";
import { SessionFileRuntime } from "./session-file-runtime.ts";

export interface RuntimeFactoryOptions {
  /** The state directory, in which containers of the agent keep their sessions. */
  stateDir: string;
  /** Selects the engine with the same variables as the `docker` command (default: `process.env`). */
  environment?: Environment;
}

const multiTurnRuntimes = { sdk: () => new SDKRuntime(), cli: () => new CLIRuntime() };

const runtimes: Record<string, (agent: ResolvedAgent) => RuntimeInterface> = {
  ...multiTurnRuntimes,
  cli: ({ runtime }) =>
    runtime.stream === "session-file" ? new SessionFileRuntime() : multiTurnRuntimes.cli(),
};

/** Creates the runtime that an agent is configured with. */
export const RuntimeFactory = {
  create(agent: ResolvedAgent, options: RuntimeFactoryOptions): RuntimeInterface {
    const createRuntime = runtimes[agent.runtime.type];
    if (createRuntime) return runInContainer(agent, createRuntime(agent), options);
    throw new UserError("usage", `unknown runtime \`${agent.runtime.type}\``, {
      hint: `Supported: ${Object.keys(runtimes).join(", ")}.`,
    });
  },

  /** A runtime whose `claude` keeps running between the turns of a session. */
  createKeepAlive(
    agent: ResolvedAgent,
    { stateDir, environment = process.env }: RuntimeFactoryOptions,
  ): KeepAliveRuntime {
    const runtime = multiTurnRuntimes[agent.runtime.type]();
    if (!agent.docker.enabled) return new KeepAliveRuntime(runtime);
    const containerOptions = { config: resolveDockerConfig(agent), stateDir, environment };
    return new KeepAliveRuntime(new ContainerSessionRuntime(runtime, containerOptions));
  },
};

function runInContainer(
  agent: ResolvedAgent,
  runtime: RuntimeInterface,
  { stateDir, environment }: RuntimeFactoryOptions,
): RuntimeInterface {
  if (!agent.docker.enabled) return runtime;
  return new ContainerRunner(runtime, resolveDockerConfig(agent), stateDir, environment);
}
