import { createHash } from "node:crypto";
import type { Environment, Fleet } from "@herdctl/config";
import { claudeVisibleConfig } from "../../runner/contract/run-order.ts";

/**
 * Hash of all configuration that affects an agent's `claude`; undefined if the agent does not
 * exist.
 */
export function agentConfigHash(
  { fleet, environment }: { fleet(): Fleet; environment(): Environment },
  name: string,
): string | undefined {
  const agent = fleet().agents.find((agent) => agent.name === name);
  if (!agent) return undefined;
  const hashedText = JSON.stringify([
    claudeVisibleConfig(agent),
    fleet().claude_path,
    environment(),
  ]);
  return createHash("sha256").update(hashedText).digest("hex");
}
