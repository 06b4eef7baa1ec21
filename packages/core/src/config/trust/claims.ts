import type { z } from "zod";
import { schemasBelow } from "../../document/schema-at.ts";
import type { Tree, WithheldVariable } from "../../document/tree.ts";
import { agentSchema } from "../schema/agent.ts";
import { type TrustRule, trustRuleOf } from "../schema/trust.ts";

export type Path = (string | number)[];

/** A field that a limited layer sets. */
export interface Claim {
  path: Path;
  tree: Tree;
  field: z.core.$ZodType;
  rule: TrustRule;
}

const undeclared: TrustRule = { class: "fleet", reason: "this field declares no trust class" };

/** Every field that a layer sets, outer ones first. Below a field of the fleet file none is named. */
export function claimsOf(
  tree: Tree,
  schema: z.core.$ZodType = agentSchema,
  path: Path = [],
): Claim[] {
  return childrenOf(tree).flatMap(([part, child]) => {
    const here = [...path, part];
    return schemasBelow(schema, tree, part).flatMap(({ schema: field, isField }) => {
      // An entry of a list, or of a block whose keys are free, has the class of what holds it.
      const rule = isField ? (trustRuleOf(field) ?? undeclared) : undefined;
      const own = rule ? [{ path: here, tree: child, field, rule }] : [];
      return rule?.class === "fleet" ? own : [...own, ...claimsOf(child, field, here)];
    });
  });
}

/** What of a layer has an effect: what a stronger layer says as well is not merged in. */
export function effective(claimed: Tree, stronger: Tree | undefined): Tree | undefined {
  if (stronger === undefined) return claimed;
  if (stronger.kind !== "map") return undefined;
  // A value in the place of a block also removes what weaker layers say in that block.
  if (claimed.kind !== "map") return claimed;
  const entries = [...claimed.entries].flatMap(([key, entry]) => {
    const tree = effective(entry.tree, stronger.entries.get(key)?.tree);
    return tree ? [[key, { ...entry, tree }] as const] : [];
  });
  return entries.length > 0 ? { ...claimed, entries: new Map(entries) } : undefined;
}

/** Where a layer puts something else, such as `null`, in the place of a block of the fleet file. */
export function removedBlocks(claimed: Tree, fleetSays: Tree | undefined, path: Path = []): Path[] {
  if (fleetSays?.kind !== "map") return [];
  if (claimed.kind !== "map") return [path];
  return Array.from(claimed.entries).flatMap(([key, { tree }]) =>
    removedBlocks(tree, fleetSays.entries.get(key)?.tree, [...path, key]),
  );
}

/** The variables that were not filled in, and the field each was meant for. */
export function withheldIn(tree: Tree, path: Path = []): (WithheldVariable & { path: Path })[] {
  if (tree.kind === "scalar") return (tree.withheld ?? []).map((one) => ({ ...one, path }));
  return childrenOf(tree).flatMap(([part, child]) => withheldIn(child, [...path, part]));
}

/** The value as its author wrote it: with variables by name, never with what they hold. */
export function asWritten(tree: Tree): unknown {
  if (tree.kind === "scalar") return tree.template ?? tree.value;
  if (tree.kind === "list") return tree.items.map(asWritten);
  return Object.fromEntries(Array.from(tree.entries, ([key, { tree }]) => [key, asWritten(tree)]));
}

function childrenOf(tree: Tree): [part: string | number, child: Tree][] {
  if (tree.kind === "list") return tree.items.map((item, index) => [index, item]);
  return tree.kind === "map" ? Array.from(tree.entries, ([key, { tree }]) => [key, tree]) : [];
}
