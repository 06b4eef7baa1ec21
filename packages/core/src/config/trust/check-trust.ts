import { dirname } from "node:path";
import { z } from "zod";
import { formatPath, type Place, type Problem } from "../../document/problem.ts";
import { at, placeOf, type Tree, toValue, valuePlaceOf } from "../../document/tree.ts";
import { followLinks, type Guarded, secretIn } from "../boundary.ts";
import { resolvePath } from "../resolve.ts";
import type { GrantKind } from "../schema/trust.ts";
import type { AgentSource } from "../sources.ts";
import {
  asWritten,
  type Claim,
  claimsOf,
  effective,
  type Path,
  removedBlocks,
  withheldIn,
} from "./claims.ts";
import { allowingLine, type Grant, grantsWithout, mayUseVariable } from "./grant.ts";
import { type AgentLayer, mergeLayers, outranking } from "./layers.ts";

/**
 * For an agent in Docker: what its limited layers set beyond their trust class. On the host an
 * agent has the rights of its user anyway, so nothing is checked there.
 */
export function checkTrust(source: AgentSource, guarded: Guarded): Problem[] {
  if (!source.runsInDocker) return [];
  return [
    ...checkFile(source),
    ...limitedClaims(source).flatMap((one) => checkClaims(one, guarded)),
  ];
}

/** What one limited layer sets, and everything that it is judged by. */
export interface LimitedClaims {
  layer: AgentLayer;
  tree: Tree;
  claims: Claim[];
  /** What those say who outrank it. */
  fleetSays: Tree | undefined;
}

export function limitedClaims({ layers, runsInDocker }: AgentSource): LimitedClaims[] {
  if (!runsInDocker) return [];
  return layers.flatMap((layer, index) => {
    if (layer.grants.length === 0) return [];
    const tree = effective(layer.tree, mergeLayers(layers.slice(index + 1)));
    if (!tree) return [];
    const fleetSays = mergeLayers(outranking(layers, layer));
    return [{ layer, tree, claims: claimsOf(tree), fleetSays }];
  });
}

function checkClaims(limited: LimitedClaims, guarded: Guarded): Problem[] {
  const { claims, layer, tree } = limited;
  const variables = withheldIn(tree).map(({ name, place, path }) => {
    const missing = layer.grants.filter((grant) => !mayUseVariable([grant], name));
    return refusal(place, path, `it may not use the variable ${name}`, missing, {
      variables: [name],
    });
  });
  return [
    ...variables,
    ...removals(limited),
    ...claims.flatMap((claim) => checkClaim(claim, limited, guarded)),
  ];
}

/** Some blocks have a short form, such as `runtime: cli`; the rule of the field is enough there. */
function removals({ claims, fleetSays, layer, tree }: LimitedClaims): Problem[] {
  const hasShortForm = (path: Path) =>
    claims.some(
      (claim) =>
        formatPath(claim.path) === formatPath(path) &&
        z.safeParse(claim.field, toValue(claim.tree)).success,
    );
  const removed = removedBlocks(tree, fleetSays).filter((path) => !hasShortForm(path));
  const reason = "it removes a block of the fleet file";
  return removed.map((path) =>
    refusal(placeOf(tree, path), path, reason, layer.grants.slice(0, 1), { trust: "full" }),
  );
}

function checkClaim(claim: Claim, limited: LimitedClaims, guarded: Guarded): Problem[] {
  const { rule, path } = claim;
  if (rule.class === "free") return [];
  if (rule.class === "granted") return checks[rule.grant](claim, limited, guarded);
  if (rule.class === "fleet")
    return blocksOf(claim).map((block) => onlyByFleet(block, limited, rule.reason));

  const said = at(limited.fleetSays, path);
  if (!said && rule.whenUnset === "free") return [];
  const claimed = z.safeParse(claim.field, toValue(claim.tree));
  // A value that is no value at all is for the schema to report.
  if (!claimed.success) return [];
  const limit = z.safeParse(claim.field, said && toValue(said));
  if (rule.isNoWeaker(limit.success ? limit.data : undefined, claimed.data)) return [];
  return [onlyByFleet(claim, limited, "it is weaker than the fleet file or the default says")];
}

type Check = (claim: Claim, limited: LimitedClaims, guarded: Guarded) => Problem[];

const checks: Record<GrantKind, Check> = {
  folder: (claim, { layer, tree }) => {
    const path = pathOf(claim.tree);
    if (path === undefined) return [];
    const missing = grantsWithout(layer.grants, path);
    return missing.length === 0
      ? []
      : [outside(valuePlaceOf(tree, claim.path), claim.path, path, missing)];
  },
  schema_file: (claim, limited, guarded) => {
    const path = pathOf(claim.tree);
    if (path === undefined) return [];
    const real = followLinks(path);
    if (guarded.operatorFolders.has(real) || secretIn(real, guarded) !== undefined)
      return [onlyByFleet(claim, limited, "the file is one of the fleet or may hold a secret")];
    const missing = grantsWithout(limited.layer.grants, path, [dirname(claim.tree.place.file)]);
    if (missing.length === 0) return [];
    return [outside(valuePlaceOf(limited.tree, claim.path), claim.path, path, missing)];
  },
  variable: (claim, { layer, tree }) =>
    namesIn(claim.tree).flatMap((name) => {
      const missing = layer.grants.filter((grant) => !mayUseVariable([grant], name));
      if (missing.length === 0) return [];
      const place = valuePlaceOf(tree, claim.path);
      const reason = `it may not use the variable ${name}`;
      return [refusal(place, claim.path, reason, missing, { variables: [name] })];
    }),
  container_server: ({ tree: servers }, limited) => {
    if (servers.kind !== "map") return [];
    return [...servers.entries].flatMap(([name, { tree }]) => {
      const path = ["mcp_servers", name];
      const run = at(tree, ["run"]);
      // Moving the fleet's own server into the container would take its secrets along.
      const isOfFleet = at(limited.fleetSays, path) !== undefined;
      if (!isOfFleet && run?.kind === "scalar" && run.value === "container") return [];
      const reason = isOfFleet
        ? "the fleet file describes this server"
        : "an MCP server without `run: container` runs on the host";
      return [onlyByFleet({ path, tree }, limited, reason)];
    });
  },
  tool_rules: ({ tree: rules, path }, limited) => {
    if (rules.kind !== "list") return [];
    const said = at(limited.fleetSays, path);
    const allowed = said?.kind === "list" ? said.items.map(toValue) : [];
    const servers = hostServersOf(limited.fleetSays);
    return rules.items.flatMap((item, index) => {
      const rule = item.kind === "scalar" ? String(item.value) : "";
      const server = servers.find((name) => couldAllow(rule, name));
      if (server === undefined || allowed.includes(rule)) return [];
      const reason = `it allows tools of \`${server}\`, an MCP server on the host`;
      const place = valuePlaceOf(limited.tree, [...path, index]);
      const line = { overrides: { allowed_tools: [...allowed, ...rules.items.map(asWritten)] } };
      return [refusal(place, [...path, index], reason, limited.layer.grants.slice(0, 1), line)];
    });
  },
  // Takes all agents: see `delegation.ts`.
  agents: () => [],
};

/** A block that holds nothing but blocks is several claims: `chat.discord` and `chat.slack`. */
function blocksOf(claim: Pick<Claim, "path" | "tree">): Pick<Claim, "path" | "tree">[] {
  const { tree, path } = claim;
  const inner = tree.kind === "map" ? [...tree.entries] : [];
  return inner.length > 0 && inner.every(([, entry]) => entry.tree.kind === "map")
    ? inner.map(([key, entry]) => ({ path: [...path, key], tree: entry.tree }))
    : [claim];
}

/** Only overrides of the outermost fleet file that limits the layer can say it. */
function onlyByFleet(
  { path, tree: claimed }: Pick<Claim, "path" | "tree">,
  { layer, tree }: LimitedClaims,
  reason: string,
): Problem {
  const overrides = path.reduceRight<unknown>(
    (inner, key) => ({ [key]: inner }),
    withAbsolutePaths(path, asWritten(claimed), claimed.place),
  );
  return refusal(placeOf(tree, path), path, reason, layer.grants.slice(0, 1), { overrides });
}

export function refusal(
  place: Place,
  path: Path,
  reason: string,
  grants: readonly Grant[],
  content: object,
): Problem {
  const lines = grants.map((grant) => allowingLine(grant, content)).join(" and to ");
  return {
    ...place,
    path: formatPath(path),
    message: `a limited file cannot set this for an agent in Docker: ${reason}`,
    hint: `To allow it, add to ${lines}.`,
  };
}

function outside(place: Place, path: Path, named: string, grants: readonly Grant[]): Problem {
  const reason = "the path is outside of the fleet's folder and of `workspace_roots`";
  return refusal(place, path, reason, grants, { workspace_roots: [followLinks(named)] });
}

/** The files of a limited fleet, too, are those of its own folder. */
function checkFile({ file, fleetGrants, place }: AgentSource): Problem[] {
  const missing = grantsWithout(fleetGrants, file);
  if (missing.length === 0) return [];
  const lines = missing.map((grant) => allowingLine(grant, { workspace_roots: [dirname(file)] }));
  return [
    {
      ...place,
      path: "",
      message: "a limited fleet cannot use a file outside of its folder for an agent in Docker",
      hint: `To allow it, add to ${lines.join(" and to ")}.`,
    },
  ];
}

/** Undefined for anything but the text of a path; a path with a withheld variable is refused anyway. */
function pathOf(tree: Tree): string | undefined {
  if (tree.kind !== "scalar" || typeof tree.value !== "string") return undefined;
  return resolvePath(dirname(tree.place.file), tree.value);
}

function namesIn(tree: Tree): string[] {
  return (tree.kind === "list" ? tree.items : [tree]).map((one) => String(toValue(one)));
}

/** Relative paths would mean another folder in the fleet file. */
function withAbsolutePaths(path: Path, value: unknown, place: Place): unknown {
  if (path.at(-1) === "output_schema") return resolvePath(dirname(place.file), String(value));
  if (!Array.isArray(value) || !["plugins", "docker.volumes"].includes(path.join(".")))
    return value;
  return value.map((one) => {
    const [source = "", ...rest] = String(one).split(":");
    return [resolvePath(dirname(place.file), source), ...rest].join(":");
  });
}

/** The MCP servers of the fleet file that a Docker agent reaches outside of its container. */
function hostServersOf(fleetSays: Tree | undefined): string[] {
  const servers = at(fleetSays, ["mcp_servers"]);
  if (servers?.kind !== "map") return [];
  return [...servers.entries].flatMap(([name, { tree }]) => {
    const run = at(tree, ["run"]);
    return run?.kind === "scalar" && run.value === "container" ? [] : [name];
  });
}

/** Whether a rule such as `mcp__github__*` or `*` can name a tool of a server. */
function couldAllow(rule: string, server: string): boolean {
  const prefix = `mcp__${server}__`;
  if (rule === `mcp__${server}`) return true;
  const [fixed = ""] = rule.split("*");
  if (fixed === rule) return rule.startsWith(prefix);
  return fixed.startsWith(prefix) || prefix.startsWith(fixed);
}
