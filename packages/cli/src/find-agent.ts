import { type FleetStatus, UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";

/** The agent with this name; throws an error that lists the agents of the fleet. */
export function findAgent<T extends { name: string }>(
  name: string,
  { agents }: { agents: readonly T[] },
): T {
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name).join(", ");
  throw new UserError("agent_not_found", `there is no agent \`${name}\``, {
    hint: `Agents of this fleet: ${names || "none"}.`,
  });
}

/** The agent that the first argument names, or with `--all` every agent. */
export function requireAgentsArgument(context: CommandContext, status: FleetStatus): string[] {
  const isAll = context.options.all === true;
  if (isAll && context.arguments[0] !== undefined) {
    throw new UserError("usage", "give either the name of an agent or `--all`, not both");
  }
  return isAll ? status.agents.map(({ name }) => name) : [requireAgentArgument(context, status)];
}

/** The agent that the first argument names. */
function requireAgentArgument(context: CommandContext, status: FleetStatus): string {
  const [name] = context.arguments;
  if (name === undefined) throw new UserError("usage", "the name of the agent is missing");
  return findAgent(name, status).name;
}
