import { dirname } from "node:path";
import { formatPath, type Problem, type SourcePosition } from "@herdctl/protocol";
import { z } from "zod";
import { findSecret, type ProtectedPaths, resolveLinks } from "../checks/mounts.ts";
import { withCause } from "../problem-cause.ts";
import type { AgentSource } from "../read-sources.ts";
import { resolvePath } from "../resolve-agent.ts";
import { isNamedVolume } from "../schema/docker.ts";
import type { GrantKind } from "../schema/trust.ts";
import { keyPositionOf, type Tree, toValue, treeAt, valuePositionOf } from "../yaml/tree.ts";
import { type AgentLayer, findOutrankingLayers, mergeLayers } from "./config-layers.ts";
import { findGrantsNotCovering, formatGrantHint, type Grant, isVariableGranted } from "./grant.ts";
import {
  effectiveTree,
  findRemovedBlocks,
  findWithheldVariables,
  type LayerField,
  listLayerFields,
  type Path,
  toWrittenValue,
} from "./layer-fields.ts";

/**
 * For an agent in Docker: problems with fields that its limited layers set beyond their trust
 * class. On the host, an agent has all rights of its user, so nothing is checked.
 */
export function checkTrust(source: AgentSource, protectedPaths: ProtectedPaths): Problem[] {
  if (!source.isInDocker) return [];
  return [
    ...checkSourceFile(source),
    ...collectLimitedLayers(source).flatMap((limited) => checkLayer(limited, protectedPaths)),
  ];
}

/** A limited layer, what it sets, and what it is compared with. */
export interface LimitedLayer {
  layer: AgentLayer;
  tree: Tree;
  fields: LayerField[];
  /** The merged layers that outrank it. */
  outrankingTree: Tree | undefined;
}

export function collectLimitedLayers({ layers, isInDocker }: AgentSource): LimitedLayer[] {
  if (!isInDocker) return [];
  return layers.flatMap((layer, index) => {
    if (layer.grants.length === 0) return [];
    const tree = effectiveTree(layer.tree, mergeLayers(layers.slice(index + 1)));
    if (!tree) return [];
    const outrankingTree = mergeLayers(findOutrankingLayers(layers, layer));
    return [{ layer, tree, fields: listLayerFields(tree), outrankingTree }];
  });
}

function checkLayer(limited: LimitedLayer, protectedPaths: ProtectedPaths): Problem[] {
  const { fields, layer, tree } = limited;
  const variables = findWithheldVariables(tree).map(({ name, place, path }) => {
    const missing = layer.grants.filter((grant) => !isVariableGranted([grant], name));
    return trustProblem(place, path, `it may not use the variable ${name}`, missing, {
      variables: [name],
    });
  });
  return [
    ...variables,
    ...checkRemovals(limited),
    ...fields.flatMap((field) => checkField(field, limited, protectedPaths)),
  ];
}

/** Some blocks have a short form, such as `runtime: cli`; the rule of the field is enough there. */
function checkRemovals({ fields, outrankingTree, layer, tree }: LimitedLayer): Problem[] {
  const hasShortForm = (path: Path) =>
    fields.some(
      (field) =>
        formatPath(field.path) === formatPath(path) &&
        z.safeParse(field.schema, toValue(field.tree)).success,
    );
  const removed = findRemovedBlocks(tree, outrankingTree).filter((path) => !hasShortForm(path));
  const reason = "it removes a block of the fleet file";
  return removed.map((path) =>
    trustProblem(keyPositionOf(tree, path), path, reason, layer.grants.slice(0, 1), {
      trust: "full",
    }),
  );
}

function checkField(
  field: LayerField,
  limited: LimitedLayer,
  protectedPaths: ProtectedPaths,
): Problem[] {
  const { rule, path } = field;
  if (rule.class === "free") return [];
  if (rule.class === "granted") return checks[rule.grant](field, limited, protectedPaths);
  if (rule.class === "fleet")
    // defence: host-commands-by-fleet-file
    return splitBlocks(field).map((block) => fleetOnlyProblem(block, limited, rule.reason));

  const outrankingValue = treeAt(limited.outrankingTree, path);
  if (/* defence: strict-default */ !outrankingValue && rule.whenUnset === "free") return [];
  const claimed = z.safeParse(field.schema, toValue(field.tree));
  // Invalid values are reported by the schema check.
  if (!claimed.success) return [];
  const limit = z.safeParse(field.schema, outrankingValue && toValue(outrankingValue));
  // defence: agent-file-limits
  if (rule.isNoWeaker(limit.success ? limit.data : undefined, claimed.data)) return [];
  return [fleetOnlyProblem(field, limited, "it is weaker than the fleet file or the default")];
}

type Check = (
  field: LayerField,
  limited: LimitedLayer,
  protectedPaths: ProtectedPaths,
) => Problem[];

const checks: Record<GrantKind, Check> = {
  folder: (field, { layer, tree }) => {
    const isList = field.tree.kind === "list";
    const values = field.tree.kind === "list" ? field.tree.items : [field.tree];
    return values.flatMap((value, index) => {
      const path = resolveTreePath(value);
      if (path === undefined) return [];
      const missing = findGrantsNotCovering(layer.grants, path);
      const written = isList ? [...field.path, index] : field.path;
      return missing.length === 0
        ? []
        : [outsideFoldersProblem(valuePositionOf(tree, written), written, path, missing)];
    });
  },
  schema_file: (field, limited, protectedPaths) => {
    const path = resolveTreePath(field.tree);
    if (path === undefined) return [];
    const real = resolveLinks(path);
    if (
      /* defence: schema-not-operator-file */ protectedPaths.operatorFolders.has(real) ||
      findSecret(real, protectedPaths) !== undefined
    )
      return [
        fleetOnlyProblem(field, limited, "the file belongs to the fleet or may contain a secret"),
      ];
    const missing = findGrantsNotCovering(limited.layer.grants, path, [
      dirname(field.tree.place.file),
    ]);
    if (missing.length === 0) return [];
    return [
      outsideFoldersProblem(valuePositionOf(limited.tree, field.path), field.path, path, missing),
    ];
  },
  variable: (field, { layer, tree }) =>
    variableNames(field.tree).flatMap((name) => {
      const missing = layer.grants.filter((grant) => !isVariableGranted([grant], name));
      if (missing.length === 0) return [];
      const place = valuePositionOf(tree, field.path);
      const reason = `it may not use the variable ${name}`;
      return [trustProblem(place, field.path, reason, missing, { variables: [name] })];
    }),
  container_server: ({ tree: servers }, limited) => {
    if (servers.kind !== "map") return [];
    return [...servers.entries].flatMap(([name, { tree }]) => {
      const path = ["mcp_servers", name];
      const run = treeAt(tree, ["run"]);
      // Moving the fleet's server into the container would move its secrets there too.
      const isOfFleet = treeAt(limited.outrankingTree, path) !== undefined;
      if (!isOfFleet && run?.kind === "scalar" && run.value === "container") return [];
      const reason = isOfFleet
        ? "the fleet file describes this server"
        : "an MCP server without `run: container` runs on the host";
      return [fleetOnlyProblem({ path, tree }, limited, reason)];
    });
  },
  tool_rules: ({ tree: rules, path }, limited) => {
    if (rules.kind !== "list") return [];
    const outrankingValue = treeAt(limited.outrankingTree, path);
    const allowed = outrankingValue?.kind === "list" ? outrankingValue.items.map(toValue) : [];
    const servers = listHostServers(limited.outrankingTree);
    return rules.items.flatMap((item, index) => {
      const rule = item.kind === "scalar" ? String(item.value) : "";
      const server = servers.find((name) => mayAllowServer(rule, name));
      if (/* defence: host-server-rules */ server === undefined || allowed.includes(rule))
        return [];
      const reason = `it allows tools of \`${server}\`, an MCP server on the host`;
      const place = valuePositionOf(limited.tree, [...path, index]);
      const line = {
        overrides: { allowed_tools: [...allowed, ...rules.items.map(toWrittenValue)] },
      };
      return [
        trustProblem(place, [...path, index], reason, limited.layer.grants.slice(0, 1), line),
      ];
    });
  },
  // Needs all agents: see `delegation.ts`.
  agents: () => [],
};

/**
 * A block that contains only blocks counts as several fields, such as `chat.discord` and
 * `chat.slack`.
 */
function splitBlocks(
  field: Pick<LayerField, "path" | "tree">,
): Pick<LayerField, "path" | "tree">[] {
  const { tree, path } = field;
  const inner = tree.kind === "map" ? [...tree.entries] : [];
  return inner.length > 0 && inner.every(([, entry]) => entry.tree.kind === "map")
    ? inner.map(([key, entry]) => ({ path: [...path, key], tree: entry.tree }))
    : [field];
}

/** Only `overrides` of the outermost fleet file that limits the layer can allow it. */
function fleetOnlyProblem(
  { path, tree: claimed }: Pick<LayerField, "path" | "tree">,
  { layer, tree }: LimitedLayer,
  reason: string,
): Problem {
  const overrides = path.reduceRight<unknown>(
    (inner, key) => ({ [key]: inner }),
    withAbsolutePaths(path, toWrittenValue(claimed), claimed.place),
  );
  return trustProblem(keyPositionOf(tree, path), path, reason, layer.grants.slice(0, 1), {
    overrides,
  });
}

export function trustProblem(
  place: SourcePosition,
  path: Path,
  reason: string,
  grants: readonly Grant[],
  content: object,
): Problem {
  const lines = grants.map((grant) => formatGrantHint(grant, content)).join(" and to ");
  const problem = {
    ...place,
    path: formatPath(path),
    message: `a limited file cannot set this for an agent in Docker: ${reason}`,
    hint: `To allow it, add to ${lines}.`,
  };
  return withCause(problem, { kind: "not_granted", grants, content });
}

function outsideFoldersProblem(
  place: SourcePosition,
  path: Path,
  named: string,
  grants: readonly Grant[],
): Problem {
  const reason = "the path is outside the fleet's folder and `workspace_roots`";
  return trustProblem(place, path, reason, grants, { workspace_roots: [resolveLinks(named)] });
}

/** The files of a limited fleet must be in its folder or in a granted one. */
function checkSourceFile({ file, fleetGrants, place }: AgentSource): Problem[] {
  const missing = findGrantsNotCovering(fleetGrants, file);
  if (missing.length === 0) return [];
  const lines = missing.map((grant) =>
    formatGrantHint(grant, { workspace_roots: [dirname(file)] }),
  );
  return [
    {
      ...place,
      path: "",
      message: "a limited fleet cannot use a file outside its folder for an agent in Docker",
      hint: `To allow it, add to ${lines.join(" and to ")}.`,
    },
  ];
}

/** Undefined if the tree is not a text. Paths with a withheld variable are refused elsewhere. */
function resolveTreePath(tree: Tree): string | undefined {
  if (tree.kind !== "scalar" || typeof tree.value !== "string") return undefined;
  return resolvePath(dirname(tree.place.file), tree.value);
}

function variableNames(tree: Tree): string[] {
  return (tree.kind === "list" ? tree.items : [tree]).map((item) => String(toValue(item)));
}

const filePaths = new Set(["output_schema", "file", "project_config_root"]);

/** In the fleet file, a relative path would mean another folder. */
function withAbsolutePaths(path: Path, value: unknown, place: SourcePosition): unknown {
  if (filePaths.has(String(path.at(-1)))) return resolvePath(dirname(place.file), String(value));
  if (!Array.isArray(value) || !["plugins", "docker.volumes"].includes(path.join(".")))
    return value;
  return value.map((volume) => {
    const [source = "", ...rest] = String(volume).split(":");
    if (path.at(-1) === "volumes" && isNamedVolume({ source })) return volume;
    return [resolvePath(dirname(place.file), source), ...rest].join(":");
  });
}

/** The MCP servers of the fleet file that a Docker agent reaches outside its container. */
function listHostServers(fleetTree: Tree | undefined): string[] {
  const servers = treeAt(fleetTree, ["mcp_servers"]);
  if (servers?.kind !== "map") return [];
  return [...servers.entries].flatMap(([name, { tree }]) => {
    const run = treeAt(tree, ["run"]);
    return run?.kind === "scalar" && run.value === "container" ? [] : [name];
  });
}

/** Whether a rule such as `mcp__github__*` or `*` can name a tool of a server. */
function mayAllowServer(rule: string, server: string): boolean {
  const prefix = `mcp__${server}__`;
  if (rule === `mcp__${server}`) return true;
  const [fixed = ""] = rule.split("*");
  if (fixed === rule) return rule.startsWith(prefix);
  return fixed.startsWith(prefix) || prefix.startsWith(fixed);
}
