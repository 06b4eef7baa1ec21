import type { Place } from "./problem.ts";

export type ScalarValue = string | number | bigint | boolean | null;

/** A value of a document that still knows where it stands, so that merged results can say so too. */
export type Tree = Scalar | TreeMap | TreeList;

interface Scalar {
  kind: "scalar";
  place: Place;
  value: ScalarValue;
  /** Environment variables whose content went into the value: it may be a secret. */
  variables: string[];
  /** One that it names has no value: that is told, and what comes of it need not be. */
  isUnset?: boolean;
  /** Variables that it names and that were not filled in, because its author may not use them. */
  withheld?: WithheldVariable[];
  /** As it is written, when variables were filled in. */
  template?: string;
}

export interface WithheldVariable {
  name: string;
  place: Place;
}

export interface TreeMap {
  kind: "map";
  place: Place;
  entries: Map<string, TreeEntry>;
}

export interface TreeEntry {
  keyPlace: Place;
  tree: Tree;
}

interface TreeList {
  kind: "list";
  place: Place;
  items: Tree[];
}

export function toValue(tree: Tree): unknown {
  if (tree.kind === "scalar") return tree.value;
  if (tree.kind === "list") return tree.items.map(toValue);
  // Unlike assignment, fromEntries keeps `__proto__` a plain key.
  return Object.fromEntries(Array.from(tree.entries, ([key, entry]) => [key, toValue(entry.tree)]));
}

export function child(tree: Tree | undefined, part: PropertyKey): Tree | undefined {
  if (tree?.kind === "map") return tree.entries.get(String(part))?.tree;
  if (tree?.kind === "list" && typeof part === "number") return tree.items[part];
  return undefined;
}

export function at(tree: Tree | undefined, path: readonly PropertyKey[]): Tree | undefined {
  return path.reduce<Tree | undefined>(child, tree);
}

export function isUnset(tree: Tree | undefined): boolean {
  return tree?.kind === "scalar" && tree.isUnset === true;
}

/** The place of the key if there is one, else of the value, else of the nearest thing around it. */
export function placeOf(tree: Tree, path: readonly PropertyKey[]): Place {
  const last = path.at(-1);
  if (last === undefined) return tree.place;
  const parent = at(tree, path.slice(0, -1));
  if (parent?.kind === "map") {
    const entry = parent.entries.get(String(last));
    if (entry) return entry.keyPlace;
  }
  return at(tree, path)?.place ?? placeOf(tree, path.slice(0, -1));
}

/** The place of the value itself, for problems about what is written and not about the key. */
export function valuePlaceOf(tree: Tree, path: readonly PropertyKey[]): Place {
  return at(tree, path)?.place ?? placeOf(tree, path);
}

/** Later trees win; maps are merged key by key, lists and scalars are replaced whole. */
export function mergeTrees(base: Tree | undefined, over: Tree | undefined): Tree | undefined {
  if (base === undefined) return over;
  if (over === undefined) return base;
  if (base.kind !== "map" || over.kind !== "map") return over;
  const entries = new Map(base.entries);
  for (const [key, entry] of over.entries) {
    const under = entries.get(key);
    const tree = mergeTrees(under?.tree, entry.tree);
    if (tree) entries.set(key, { keyPlace: entry.keyPlace, tree });
  }
  return { kind: "map", place: over.place, entries };
}
