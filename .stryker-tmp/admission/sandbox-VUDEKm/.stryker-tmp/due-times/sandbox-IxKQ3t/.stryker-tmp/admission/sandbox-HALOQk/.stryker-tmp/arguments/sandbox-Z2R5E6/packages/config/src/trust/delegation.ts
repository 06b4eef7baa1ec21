import { isAbsolute } from "node:path";
import type { Problem } from "@herdctl/protocol";
import { matchesAnyPattern } from "../name-patterns.ts";
import type { AgentSource } from "../read-sources.ts";
import type { ResolvedAgent } from "../resolve-agent.ts";
import { toValue, treeAt, valuePositionOf } from "../yaml/tree.ts";
import { computeReach, findExcessReach } from "./agent-reach.ts";
import { collectLimitedLayers, trustProblem } from "./check-trust.ts";
import { findGrantsNotCovering, type Grant } from "./grant.ts";

interface DelegationAgent {
  source: AgentSource;
  name: string;
  agent?: ResolvedAgent;
}

/**
 * An agent that sends a prompt to another agent can do whatever that agent can do. A limited file
 * may therefore name only agents with no more reach than its own agent.
 */
export function checkDelegation(agents: readonly DelegationAgent[]): Problem[] {
  return agents.flatMap(({ source, name, agent }) =>
    collectLimitedLayers(source).flatMap(({ fields, outrankingTree, layer, tree }) => {
      const claim = fields.find(({ path }) => path.join(".") === "may_trigger");
      if (!agent || claim?.tree.kind !== "list") return [];
      const allowed = listValues(treeAt(outrankingTree, claim.path));
      return claim.tree.items.flatMap((item, index) => {
        const pattern = String(toValue(item));
        if (allowed.includes(pattern)) return [];
        const others = agents.filter(
          (other) => other.name !== name && matchesAnyPattern([pattern], other.name),
        );
        const reason = others.flatMap((other) =>
          findDelegationProblem(agent, other, layer.grants),
        )[0];
        // defence: delegation-reach
        if (reason === undefined) return [];
        const path = [...claim.path, index];
        const overrides = { may_trigger: [...new Set([...allowed, ...listValues(claim.tree)])] };
        const line = { overrides };
        return [
          trustProblem(valuePositionOf(tree, path), path, reason, layer.grants.slice(0, 1), line),
        ];
      });
    }),
  );
}

function listValues(tree: Parameters<typeof treeAt>[0]): unknown[] {
  return tree?.kind === "list" ? tree.items.map(toValue) : [];
}

function findDelegationProblem(
  agent: ResolvedAgent,
  other: DelegationAgent,
  grants: readonly Grant[],
): string[] {
  if (!other.agent) return [`\`${other.name}\` is not valid, so its isolation is unknown`];
  const extraReach = findExcessReach(
    { ...computeReach(agent), limits: {} },
    { ...computeReach(other.agent), limits: {} },
  ).filter((reach) => reach !== `agent ${agent.name}` && !isGrantedFolder(reach, grants));
  return extraReach.length > 0 ? [`\`${other.name}\` has more reach: ${extraReach[0]}`] : [];
}

/** A file may use a granted folder itself, so access to it adds no reach. */
function isGrantedFolder(resource: string, grants: readonly Grant[]): boolean {
  const path = /^folder (.*?)(, writable)?$/.exec(resource)?.[1];
  return path !== undefined && isAbsolute(path) && findGrantsNotCovering(grants, path).length === 0;
}
