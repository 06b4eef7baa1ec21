import { namesAgent } from "../../config/named-agents.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";

/** The agents that an agent can give work to by `may_trigger`, directly or through other agents. */
export function triggeredBy(agent: ResolvedAgent, all: readonly ResolvedAgent[]): ResolvedAgent[] {
  const found = new Set([agent]);
  // A set also visits what is added to it on the way.
  for (const { name, may_trigger } of found) {
    const named = all.filter((other) => other.name !== name && namesAgent(may_trigger, other.name));
    for (const other of named) found.add(other);
  }
  return all.filter((other) => other !== agent && found.has(other));
}
