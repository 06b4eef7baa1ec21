import { join } from "node:path";
import type { Environment, ResolvedAgent, ResolvedAgentConfig, RuntimeType } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { resolveDockerConfig } from "../../docker/docker-config.ts";
import { CLIRuntime } from "./cli-runtime.ts";
import { ContainerRunner, ContainerSessionRuntime } from "./container-runner.ts";
import { KeepAliveRuntime } from "./keep-alive-runtime.ts";
import type { RuntimeInterface } from "./runtime-interface.ts";
import { SDKRuntime } from "./sdk-runtime.ts";
import { SessionFileRuntime } from "./session-file-runtime.ts";

export interface RuntimeFactoryOptions {
  /**
   * The state directory, in which containers of the agent keep their sessions (default: `.herdctl` in
   * the working directory).
   */
  stateDir?: string;
  /** Selects the engine with the same variables as the `docker` command (default: `process.env`). */
  environment?: Environment;
}

const multiTurnRuntimes = { sdk: () => new SDKRuntime(), cli: () => new CLIRuntime() };

type RuntimeChoice = ResolvedAgent["runtime"];

const runtimes: Record<RuntimeType, (choice: RuntimeChoice) => RuntimeInterface> = {
  ...multiTurnRuntimes,
  cli: ({ stream }) =>
    stream === "session-file" ? new SessionFileRuntime() : multiTurnRuntimes.cli(),
};

/** Creates the runtime that an agent is configured with. */
// biome-ignore lint/complexity/noStaticOnlyClass: callers may extend it
export class RuntimeFactory {
  static create(agent: ResolvedAgentConfig, options: RuntimeFactoryOptions = {}): RuntimeInterface {
    const choice = runtimeChoiceOf(agent.runtime);
    const runtime = runtimes[choice.type](choice);
    if (!agent.docker?.enabled) return runtime;
    const { config, stateDir, environment } = containerOptions(agent, options);
    return new ContainerRunner(runtime, config, stateDir, environment);
  }

  /** A runtime whose `claude` keeps running between the turns of a session. */
  static createKeepAlive(
    agent: ResolvedAgent,
    options: RuntimeFactoryOptions = {},
  ): KeepAliveRuntime {
    const runtime = multiTurnRuntimes[agent.runtime.type]();
    if (!agent.docker.enabled) return new KeepAliveRuntime(runtime);
    return new KeepAliveRuntime(
      new ContainerSessionRuntime(runtime, containerOptions(agent, options)),
    );
  }
}

/** `cli` is short for `{ type: cli }`, and the default is `sdk`. */
function runtimeChoiceOf(runtime: ResolvedAgentConfig["runtime"] = "sdk"): RuntimeChoice {
  const { type, stream = "stdout" } = typeof runtime === "string" ? { type: runtime } : runtime;
  // A program can pass any text, such as the name of a property that every object has.
  if (Object.hasOwn(runtimes, type)) return { type, stream };
  throw new UserError("usage", `Unknown runtime type: ${type}`, {
    hint: "Supported types: 'sdk' (default), 'cli'.",
  });
}

function containerOptions(
  { docker }: Pick<ResolvedAgentConfig, "docker">,
  { stateDir = join(process.cwd(), ".herdctl"), environment = process.env }: RuntimeFactoryOptions,
) {
  return { config: resolveDockerConfig(docker), stateDir, environment };
}
