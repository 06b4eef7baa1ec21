import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";
import { CLIRuntime } from "./cli-runtime.ts";
import { ContainedOpening } from "./contained-opening.ts";
import { ContainerRunner } from "./container-runner.ts";
import { resolveDockerConfig } from "./docker-config.ts";
import type { RuntimeInterface } from "./interface.ts";
import { LiveRuntime } from "./live-runtime.ts";
import { SDKRuntime } from "./sdk-runtime.ts";
import { SessionFileRuntime } from "./session-file-runtime.ts";

export interface RuntimeFactoryOptions {
  /** Where containers of the agent keep their sessions. */
  stateDir: string;
  /** Names the engine, as for the `docker` command; that of this process by default. */
  environment?: Environment;
}

const opening = { sdk: () => new SDKRuntime(), cli: () => new CLIRuntime() };

const runtimes: Record<string, (agent: ResolvedAgent) => RuntimeInterface> = {
  ...opening,
  cli: ({ runtime }) =>
    runtime.stream === "session-file" ? new SessionFileRuntime() : opening.cli(),
};

/** The runtime that an agent's configuration asks for. */
export const RuntimeFactory = {
  create(agent: ResolvedAgent, options: RuntimeFactoryOptions): RuntimeInterface {
    const make = runtimes[agent.runtime.type];
    if (make) return contained(agent, make(agent), options);
    throw new UserError("usage", `there is no runtime \`${agent.runtime.type}\``, {
      hint: `Supported: ${Object.keys(runtimes).join(", ")}.`,
    });
  },

  /** One whose `claude` stays up between the turns of a session. */
  createLive(
    agent: ResolvedAgent,
    { stateDir, environment = process.env }: RuntimeFactoryOptions,
  ): LiveRuntime {
    const runtime = opening[agent.runtime.type]();
    if (!agent.docker.enabled) return new LiveRuntime(runtime);
    const site = { config: resolveDockerConfig(agent), stateDir, environment };
    return new LiveRuntime(new ContainedOpening(runtime, site));
  },
};

function contained(
  agent: ResolvedAgent,
  runtime: RuntimeInterface,
  { stateDir, environment }: RuntimeFactoryOptions,
): RuntimeInterface {
  if (!agent.docker.enabled) return runtime;
  return new ContainerRunner(runtime, resolveDockerConfig(agent), stateDir, environment);
}
