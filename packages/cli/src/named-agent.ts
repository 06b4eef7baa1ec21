import type { FleetStatus } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import type { Call } from "./command.ts";

/** The agent that was named, if the fleet has it. */
export function findAgent<T extends { name: string }>(
  name: string,
  { agents }: { agents: readonly T[] },
): T {
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name).join(", ");
  throw new UserError("usage", `there is no agent \`${name}\``, {
    hint: `Agents here: ${names || "none"}.`,
  });
}

/** The same for a command whose first argument must be one. */
export function agentNamed(call: Call, status: FleetStatus): string {
  const [name] = call.arguments;
  if (name === undefined) throw new UserError("usage", "which agent?");
  return findAgent(name, status).name;
}
