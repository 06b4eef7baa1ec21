import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { type Finding, failed, unknown } from "./check.ts";
import { reachEngine } from "./engine-checks.ts";
import { imageChecks } from "./image-checks.ts";
import { selfTest } from "./self-test/self-test.ts";

interface ContainerOptions {
  env: Environment;
  stateDir: string;
  agents: readonly ResolvedAgent[];
  /** Told whose container is tested now. */
  onSelfTest?: (agent: string) => void;
  signal: AbortSignal;
}

/** Whether agents in containers can work on this machine, and are kept in; each answer as it is found. */
export async function* examineContainers(options: ContainerOptions): AsyncGenerator<Finding> {
  const contained = options.agents.filter(({ docker }) => docker.enabled);
  const reached = await reachEngine(options.env);
  if (reached.kind === "unreachable") {
    const { message, hint } = reached.error;
    // Whoever has no agent in a container needs no engine.
    yield contained.length > 0
      ? failed("engine", message, hint)
      : unknown("engine", `${message} Only agents in containers need it.`);
    return;
  }
  yield* reached.checks;
  yield* await imageChecks(reached.engine, contained);
  for (const agent of contained) {
    if (options.signal.aborted) return;
    options.onSelfTest?.(agent.name);
    yield* await selfTest(agent, options);
  }
}
