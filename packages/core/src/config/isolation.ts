import type { Problem } from "../document/problem.ts";
import { at, mergeTrees, placeOf, type Tree, toValue } from "../document/tree.ts";
import { auths, networks } from "./schema/docker.ts";
import { parseSize } from "./schema/quantities.ts";
import type { AgentLayer, AgentSource } from "./sources.ts";

/**
 * An agent file can make its isolation stricter, never weaker than the fleet file says; and a
 * fleet that is included never weaker than what the fleet around it says. Each layer is held
 * against the merged words of those who outrank it.
 */
export function checkIsolation(source: AgentSource): Problem[] {
  const inDocker = at(mergeAll(source.layers), ["docker", "enabled"]);
  const runsInDocker = inDocker?.kind === "scalar" && inDocker.value === true;
  return source.layers.flatMap((layer) => {
    const outranking = source.layers.filter((other) => outranks(other, layer));
    const said = mergeAll(outranking);
    const isAgent = layer.by === "agent";
    return [
      ...dockerProblems(layer.tree, said, isAgent, runsInDocker),
      ...(isAgent && runsInDocker ? hostReachProblems(layer.tree, said) : []),
    ];
  });
}

function outranks(other: AgentLayer, layer: AgentLayer): boolean {
  if (other.rank !== layer.rank) return other.rank < layer.rank;
  return other.by === "fleet" && layer.by === "agent";
}

function mergeAll(layers: AgentLayer[]): Tree | undefined {
  return layers.reduce<Tree | undefined>((merged, one) => mergeTrees(merged, one.tree), undefined);
}

type Comparison = (said: unknown, claimed: unknown) => boolean;

interface Rule {
  /** True when the claim is no weaker than what was said; only called when something was said. */
  noWeaker: Comparison;
  /** What counts as said when the fleet is silent: the strict default. Absent: any claim is fine. */
  silent?: unknown;
}

const same: Comparison = (said, claimed) => JSON.stringify(said) === JSON.stringify(claimed);
const notBelow =
  (order: readonly string[]): Comparison =>
  (said, claimed) =>
    order.indexOf(String(claimed)) <= order.indexOf(String(said));
const subset: Comparison = (said, claimed) => {
  const open = new Set(asList(said).map((item) => JSON.stringify(item)));
  return asList(claimed).every((item) => open.has(JSON.stringify(item)));
};
// The same words may name another folder: relative sources are resolved from the file they stand in.
const nothing: Comparison = (_, claimed) => asList(claimed).length === 0;
const noMore: Comparison = (said, claimed) => amount(claimed) <= amount(said);

const rules: Record<string, Rule> = {
  enabled: { noWeaker: (said, claimed) => said !== true || claimed === true },
  image: { noWeaker: same, silent: null },
  network: { noWeaker: notBelow(networks), silent: "none" },
  egress: { noWeaker: subset, silent: [] },
  api_reach: { noWeaker: subset, silent: [] },
  auth: { noWeaker: notBelow(auths), silent: "gateway" },
  user: { noWeaker: same, silent: null },
  volumes: { noWeaker: nothing, silent: [] },
  tmpfs: { noWeaker: subset, silent: [] },
  memory: { noWeaker: noMore },
  cpus: { noWeaker: noMore, silent: 2 },
  pids_limit: { noWeaker: noMore },
  disk: { noWeaker: noMore, silent: "10g" },
  workspace_mode: { noWeaker: (said, claimed) => said !== "ro" || claimed === "ro" },
  read_only: { noWeaker: (said, claimed) => said === false || claimed === true, silent: true },
};

function dockerProblems(
  claimed: Tree,
  said: Tree | undefined,
  isAgent: boolean,
  runsInDocker: boolean,
): Problem[] {
  const block = at(claimed, ["docker"]);
  if (block?.kind !== "map") return [];
  return [...block.entries].flatMap(([option, entry]) => {
    const rule = rules[option];
    if (!rule) return [];
    const spoken = at(said, ["docker", option]);
    // Strict defaults bind agent files only; a fleet that includes another binds it by what it says.
    const silent = isAgent && runsInDocker ? rule.silent : undefined;
    const measure = spoken ? toValue(spoken) : silent;
    if (measure === undefined || rule.noWeaker(measure, toValue(entry.tree))) return [];
    return [weaker(claimed, ["docker", option], isAgent)];
  });
}

function hostReachProblems(claimed: Tree, said: Tree | undefined): Problem[] {
  const problems: Problem[] = [];
  if (at(claimed, ["hooks"])) problems.push(fleetOnly(claimed, ["hooks"], "hooks run on the host"));

  for (const name of keysOf(at(claimed, ["schedules"]))) {
    const path = ["schedules", name, "gate"];
    if (at(claimed, path)) problems.push(fleetOnly(claimed, path, "gates run on the host"));
  }

  for (const key of ["base_url", "token_env"]) {
    const path = ["work_source", key];
    if (at(claimed, path)) problems.push(fleetOnly(claimed, path, "it decides who gets a token"));
  }

  for (const name of keysOf(at(claimed, ["mcp_servers"]))) {
    const path = ["mcp_servers", name];
    const run = at(claimed, [...path, "run"]);
    const inside = run?.kind === "scalar" && run.value === "container";
    // Moving the fleet's own server into the container would take its secrets along.
    if (at(said, path)) {
      problems.push(fleetOnly(claimed, path, "the fleet file describes this server"));
    } else if (!inside) {
      problems.push({
        ...fleetOnly(claimed, path, "an MCP server runs on the host"),
        hint: "Add `run: container`, or move the server to `overrides` in the fleet file.",
      });
    }
  }
  return problems;
}

function weaker(claimed: Tree, path: string[], isAgent: boolean): Problem {
  const who = isAgent ? "an agent file" : "an included fleet";
  return {
    ...placeOf(claimed, path),
    path: path.join("."),
    message: `${who} cannot make the isolation weaker than the fleet file says`,
    hint: "Remove it here, or allow it under `overrides` (or `defaults`) in the fleet file.",
  };
}

function fleetOnly(claimed: Tree, path: string[], because: string): Problem {
  return {
    ...placeOf(claimed, path),
    path: path.join("."),
    message: `${because}, so for an agent in Docker only the fleet file can say this`,
    hint: "Move it to `overrides` of this agent in the fleet file.",
  };
}

function keysOf(tree: Tree | undefined): string[] {
  return tree?.kind === "map" ? [...tree.entries.keys()] : [];
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Values that are no amount at all are the schema's to report: they compare as no more. */
function amount(value: unknown): number {
  if (typeof value === "number") return value;
  const bytes = typeof value === "string" ? parseSize(value) : undefined;
  return typeof bytes === "number" ? bytes : 0;
}
