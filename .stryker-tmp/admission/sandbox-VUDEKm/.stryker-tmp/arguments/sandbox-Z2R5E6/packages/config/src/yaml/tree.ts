import type { SourcePosition } from "@herdctl/protocol";

export type ScalarValue = string | number | bigint | boolean | null;

/**
 * A value of a document with its position, so that merged results know where each part was written.
 */
export type Tree = TreeScalar | TreeMap | TreeList;

interface TreeScalar {
  kind: "scalar";
  place: SourcePosition;
  value: ScalarValue;
  /**
   * Environment variables that were substituted into the value, which may therefore be a secret.
   */
  variables: string[];
  /** A variable in the value is not set. That is reported; problems that follow from it are not. */
  isUnset?: boolean;
  /** Variables in the value that were not substituted, because its author may not use them. */
  withheld?: WithheldVariable[];
  /** The text as it was written, if variables were substituted. */
  template?: string;
}

export interface WithheldVariable {
  name: string;
  place: SourcePosition;
}

export interface TreeMap {
  kind: "map";
  place: SourcePosition;
  entries: Map<string, TreeEntry>;
}

export interface TreeEntry {
  keyPlace: SourcePosition;
  tree: Tree;
}

interface TreeList {
  kind: "list";
  place: SourcePosition;
  items: Tree[];
}

export function toValue(tree: Tree): unknown {
  if (tree.kind === "scalar") return tree.value;
  if (tree.kind === "list") return tree.items.map(toValue);
  // Unlike assignment, fromEntries keeps `__proto__` a plain key.
  return Object.fromEntries(Array.from(tree.entries, ([key, entry]) => [key, toValue(entry.tree)]));
}

export function childOf(tree: Tree | undefined, part: PropertyKey): Tree | undefined {
  if (tree?.kind === "map") return tree.entries.get(String(part))?.tree;
  if (tree?.kind === "list" && typeof part === "number") return tree.items[part];
  return undefined;
}

export function treeAt(tree: Tree | undefined, path: readonly PropertyKey[]): Tree | undefined {
  return path.reduce<Tree | undefined>(childOf, tree);
}

export function isUnset(tree: Tree | undefined): boolean {
  return tree?.kind === "scalar" && tree.isUnset === true;
}

/** Position of the key if there is one, else of the value, else of the nearest parent. */
export function keyPositionOf(tree: Tree, path: readonly PropertyKey[]): SourcePosition {
  const last = path.at(-1);
  if (last === undefined) return tree.place;
  const parent = treeAt(tree, path.slice(0, -1));
  if (parent?.kind === "map") {
    const entry = parent.entries.get(String(last));
    if (entry) return entry.keyPlace;
  }
  return treeAt(tree, path)?.place ?? keyPositionOf(tree, path.slice(0, -1));
}

/** Position of the value, for problems with the value itself. */
export function valuePositionOf(tree: Tree, path: readonly PropertyKey[]): SourcePosition {
  return treeAt(tree, path)?.place ?? keyPositionOf(tree, path);
}

/** Later trees win. Maps are merged key by key; lists and scalars are replaced entirely. */
export function mergeTrees(base: Tree | undefined, override: Tree | undefined): Tree | undefined {
  if (base === undefined) return override;
  if (override === undefined) return base;
  if (base.kind !== "map" || override.kind !== "map") return override;
  const entries = new Map(base.entries);
  for (const [key, entry] of override.entries) {
    const baseEntry = entries.get(key);
    const tree = mergeTrees(baseEntry?.tree, entry.tree);
    if (tree) entries.set(key, { keyPlace: entry.keyPlace, tree });
  }
  return { kind: "map", place: override.place, entries };
}
