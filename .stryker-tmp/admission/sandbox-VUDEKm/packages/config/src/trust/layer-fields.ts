import type { z } from "zod";
import { agentSchema } from "../schema/agent.ts";
import { type TrustRule, trustRuleOf } from "../schema/trust.ts";
import { schemasBelow } from "../yaml/schema-lookup.ts";
import type { Tree, WithheldVariable } from "../yaml/tree.ts";

export type Path = (string | number)[];

/** A field that a limited layer sets. */
export interface LayerField {
  path: Path;
  tree: Tree;
  schema: z.core.$ZodType;
  rule: TrustRule;
}

const undeclaredRule: TrustRule = { class: "fleet", reason: "this field declares no trust class" };

/**
 * Every field that a layer sets, outer fields first. Fields inside a `fleet` field are not listed.
 */
export function listLayerFields(
  tree: Tree,
  schema: z.core.$ZodType = agentSchema,
  path: Path = [],
): LayerField[] {
  return listChildren(tree).flatMap(([part, child]) => {
    const here = [...path, part];
    return schemasBelow(schema, tree, part).flatMap(({ schema, isField }) => {
      // An entry of a list, or of a block with free keys, has the class of its container.
      const rule = isField ? (trustRuleOf(schema) ?? undeclaredRule) : undefined;
      const own = rule ? [{ path: here, tree: child, schema: schema, rule }] : [];
      return rule?.class === "fleet" ? own : [...own, ...listLayerFields(child, schema, here)];
    });
  });
}

/** The part of a layer that takes effect: values that a stronger layer also sets are dropped. */
export function effectiveTree(claimed: Tree, stronger: Tree | undefined): Tree | undefined {
  if (stronger === undefined) return claimed;
  if (stronger.kind !== "map") return undefined;
  // A value instead of a block also removes what weaker layers set in that block.
  if (claimed.kind !== "map") return claimed;
  const entries = [...claimed.entries].flatMap(([key, entry]) => {
    const tree = effectiveTree(entry.tree, stronger.entries.get(key)?.tree);
    return tree ? [[key, { ...entry, tree }] as const] : [];
  });
  return entries.length > 0 ? { ...claimed, entries: new Map(entries) } : undefined;
}

/**
 * The paths at which a layer replaces a block of the fleet file with something else, such as
 * `null`.
 */
export function findRemovedBlocks(
  claimed: Tree,
  fleetTree: Tree | undefined,
  path: Path = [],
): Path[] {
  if (fleetTree?.kind !== "map") return [];
  if (claimed.kind !== "map") return [/* defence: no-block-removal */ path];
  return Array.from(claimed.entries).flatMap(([key, { tree }]) =>
    findRemovedBlocks(tree, fleetTree.entries.get(key)?.tree, [...path, key]),
  );
}

/** The variables that were not substituted, each with its field. */
export function findWithheldVariables(
  tree: Tree,
  path: Path = [],
): (WithheldVariable & { path: Path })[] {
  if (tree.kind === "scalar")
    return (tree.withheld ?? []).map((variable) => ({ ...variable, path }));
  return listChildren(tree).flatMap(([part, child]) =>
    findWithheldVariables(child, [...path, part]),
  );
}

/** The value as its author wrote it: with names of variables instead of their values. */
export function toWrittenValue(tree: Tree): unknown {
  if (tree.kind === "scalar") return tree.template ?? tree.value;
  if (tree.kind === "list") return tree.items.map(toWrittenValue);
  return Object.fromEntries(
    Array.from(tree.entries, ([key, { tree }]) => [key, toWrittenValue(tree)]),
  );
}

function listChildren(tree: Tree): [part: string | number, child: Tree][] {
  if (tree.kind === "list") return tree.items.map((item, index) => [index, item]);
  return tree.kind === "map" ? Array.from(tree.entries, ([key, { tree }]) => [key, tree]) : [];
}
