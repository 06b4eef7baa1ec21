import type { Environment, ResolvedAgent } from "@herdctl/config";
import { type Finding, failed } from "./check.ts";

type Agent = Pick<ResolvedAgent, "name" | "permission_mode" | "docker" | "env">;

const message = "Claude Code refuses `bypassPermissions` for root.";
const hint =
  "Run herdctl as an ordinary user, run the agent in a container, or set IS_SANDBOX=1 if the whole machine is a sandbox.";

/** Agents on the host that Claude Code refuses to start, because this process runs as root. */
export function findRootProblems(
  agents: readonly Agent[],
  environment: Environment,
  uid = process.getuid?.(),
): { agents: string[]; message: string; hint: string }[] {
  if (uid !== 0) return [];
  const names = agents
    .filter(({ permission_mode, docker }) => permission_mode === bypass && !docker.enabled)
    .filter(({ env }) => !(env.IS_SANDBOX ?? environment.IS_SANDBOX))
    .map(({ name }) => name);
  return names.length === 0 ? [] : [{ agents: names, message, hint }];
}

const bypass = "bypassPermissions";

export function checkRootMode(agents: readonly Agent[], environment: Environment): Finding[] {
  return findRootProblems(agents, environment).flatMap((problem) =>
    problem.agents.map((agent) => ({ ...failed("root", message, hint), agent })),
  );
}
