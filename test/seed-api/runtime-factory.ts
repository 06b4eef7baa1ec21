// The examples of the seed document "03-docker-integration", unchanged, in functions.
import path from "node:path";
import {
  ContainerRunner,
  type ResolvedAgentConfig as ResolvedAgent,
  RuntimeFactory,
  type RuntimeFactoryOptions,
  type RuntimeInterface,
  type RuntimeType,
  resolveDockerConfig,
} from "@herdctl/core";

export const noOptions: RuntimeFactoryOptions = {};

export function createBoth(resolvedAgent: ResolvedAgent, dockerAgent: ResolvedAgent) {
  // SDK runtime (default)
  const runtime = RuntimeFactory.create(resolvedAgent);

  // CLI runtime with Docker
  const dockerRuntime = RuntimeFactory.create(dockerAgent, {
    stateDir: '/path/to/.herdctl'
  });
  return { runtime, dockerRuntime };
}

export function wrap(
  runtime: RuntimeInterface,
  agent: ResolvedAgent,
  options: RuntimeFactoryOptions = {},
): { runtimeType: RuntimeType; runtime: RuntimeInterface } {
  // Determine runtime type from agent config (default to SDK)
  const runtimeType: RuntimeType = (agent.runtime as RuntimeType) ?? "sdk";

  // Wrap with ContainerRunner if Docker is enabled
  if (agent.docker?.enabled) {
    const dockerConfig = resolveDockerConfig(agent.docker);
    const stateDir = options.stateDir ?? process.cwd() + "/.herdctl";

    runtime = new ContainerRunner(runtime, dockerConfig, stateDir);
  }
  return { runtimeType, runtime };
}

export class StateDirectories {
  constructor(private readonly stateDir: string) {}

  /**
   * Get the docker-sessions directory path
   *
   * Docker containers store session files here, isolated from host sessions.
   */
  get dockerSessionsDir(): string {
    return path.join(this.stateDir, 'docker-sessions');
  }
}
