import { isAbsolute } from "node:path";
import type { Problem } from "../../document/problem.ts";
import { at, toValue, valuePlaceOf } from "../../document/tree.ts";
import { namesAgent } from "../named-agents.ts";
import type { ResolvedAgent } from "../resolve.ts";
import type { AgentSource } from "../sources.ts";
import { limitedClaims, refusal } from "./check-trust.ts";
import { type Grant, grantsWithout } from "./grant.ts";
import { beyond, reachOf } from "./reach.ts";

interface Loaded {
  source: AgentSource;
  name: string;
  agent?: ResolvedAgent;
}

/**
 * An agent that gives another one its prompt can do what the other one can. A limited file can
 * name only agents with no more reach than its own agent.
 */
export function checkDelegation(agents: readonly Loaded[]): Problem[] {
  return agents.flatMap(({ source, name, agent }) =>
    limitedClaims(source).flatMap(({ claims, fleetSays, layer, tree }) => {
      const claim = claims.find(({ path }) => path.join(".") === "may_trigger");
      if (!agent || claim?.tree.kind !== "list") return [];
      const allowed = valuesOf(at(fleetSays, claim.path));
      return claim.tree.items.flatMap((item, index) => {
        const pattern = String(toValue(item));
        if (allowed.includes(pattern)) return [];
        const others = agents.filter((one) => one.name !== name && namesAgent([pattern], one.name));
        const reason = others.flatMap((other) => reasonAgainst(agent, other, layer.grants))[0];
        if (reason === undefined) return [];
        const path = [...claim.path, index];
        const overrides = { may_trigger: [...new Set([...allowed, ...valuesOf(claim.tree)])] };
        const line = { overrides };
        return [refusal(valuePlaceOf(tree, path), path, reason, layer.grants.slice(0, 1), line)];
      });
    }),
  );
}

function valuesOf(tree: Parameters<typeof at>[0]): unknown[] {
  return tree?.kind === "list" ? tree.items.map(toValue) : [];
}

function reasonAgainst(agent: ResolvedAgent, other: Loaded, grants: readonly Grant[]): string[] {
  if (!other.agent) return [`\`${other.name}\` is not valid, so its isolation is unknown`];
  const further = beyond(
    { ...reachOf(agent), uses: {} },
    { ...reachOf(other.agent), uses: {} },
  ).filter((one) => one !== `agent ${agent.name}` && !couldHave(one, grants));
  return further.length > 0 ? [`\`${other.name}\` has more reach: ${further[0]}`] : [];
}

/** The file could name such a folder itself, and another agent's delegates are checked there. */
function couldHave(touched: string, grants: readonly Grant[]): boolean {
  const path = /^folder (.*?)(, writable)?$/.exec(touched)?.[1];
  return path !== undefined && isAbsolute(path) && grantsWithout(grants, path).length === 0;
}
