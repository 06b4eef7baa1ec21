import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { FindingKind, NodePath, Translation } from "./findings.ts";

/** A block of keys in a document under translation. Edits keep comments and the order of keys. */
export class Block {
  constructor(
    readonly map: YAMLMap,
    readonly path: NodePath,
    readonly translation: Translation,
  ) {}

  get isImport(): boolean {
    return this.translation.isImport;
  }

  get keys(): string[] {
    return this.map.items.map((pair) => keyOf(pair));
  }

  has(key: string): boolean {
    return this.pairOf(key) !== undefined;
  }

  /** The plain value of a key; undefined if it is not set. */
  value(key: string): unknown {
    const pair = this.pairOf(key);
    return pair === undefined ? undefined : toPlain(pair.value, this.translation);
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    return typeof value === "string" ? value : undefined;
  }

  number(key: string): number | undefined {
    const value = this.value(key);
    return typeof value === "number" ? value : undefined;
  }

  block(key: string): Block | undefined {
    const node = this.pairOf(key)?.value;
    return isMap(node) ? new Block(node, [...this.path, key], this.translation) : undefined;
  }

  list(key: string): YAMLSeq | undefined {
    const node = this.pairOf(key)?.value;
    return isSeq(node) ? node : undefined;
  }

  /** The items of a list that are blocks themselves. */
  blocks(key: string): Block[] {
    return (this.list(key)?.items ?? []).flatMap((item, index) =>
      isMap(item) ? [new Block(item, [...this.path, key, index], this.translation)] : [],
    );
  }

  /** Renames a key in its place, with a new value if one is given. */
  rename(key: string, to: string, value?: unknown): void {
    const pair = this.pairOf(key);
    if (pair === undefined) return;
    this.report("renamed", key, `\`${key}\` is called \`${to}\` here`);
    if (isScalar(pair.key)) pair.key.value = to;
    if (value !== undefined) this.replaceValue(pair, value);
  }

  /** Renames a key that was just moved, without a report. */
  replaceKey(key: string, to: string, value: unknown): void {
    const pair = this.pairOf(key);
    if (pair === undefined) return;
    if (isScalar(pair.key)) pair.key.value = to;
    this.replaceValue(pair, value);
  }

  /** Replaces the value of a key and keeps its comment, or adds the key at the end. */
  set(key: string, value: unknown): void {
    const pair = this.pairOf(key);
    if (pair === undefined) {
      this.map.add(this.translation.document.createPair(key, value));
    } else {
      this.replaceValue(pair, value);
    }
  }

  /** Removes a key. Its comments stay, before the next key. */
  remove(key: string): void {
    const index = this.map.items.findIndex((pair) => keyOf(pair) === key);
    const pair = this.map.items[index];
    if (pair === undefined) return;
    this.map.items.splice(index, 1);
    const comments = joinComments(...commentsOf(pair.key), ...commentsOf(pair.value));
    if (comments !== "") this.keepComment(index, comments);
  }

  /** Moves a key of an inner block to this one, directly before that block. */
  hoist(from: string, key: string, to: string, value?: unknown): boolean {
    const inner = this.block(from);
    const pair = inner?.pairOf(key);
    if (inner === undefined || pair === undefined) return false;
    inner.report("renamed", key, `\`${from}.${key}\` is called \`${to}\` here`);
    inner.map.items.splice(inner.map.items.indexOf(pair), 1);
    if (this.has(to)) return true;
    if (isScalar(pair.key)) pair.key.value = to;
    if (value !== undefined) this.replaceValue(pair, value);
    this.map.items.splice(this.keys.indexOf(from), 0, pair);
    return true;
  }

  /** Removes an inner block that has no keys left. */
  removeIfEmpty(key: string): void {
    if (this.block(key)?.map.items.length === 0) this.remove(key);
  }

  /** Removes a key and reports it. */
  drop(kind: "ignored" | "decision", key: string, message: string): void {
    if (!this.has(key)) return;
    this.report(kind, key, message);
    this.remove(key);
  }

  report(kind: FindingKind, key: string, message: string): void {
    const node = this.pairOf(key)?.key ?? this.map;
    this.translation.report(kind, node, [...this.path, key], message);
  }

  /** Adds a line of comment above a key. */
  comment(key: string, text: string): void {
    const node = this.keys[0] === key ? this.map : this.pairOf(key)?.key;
    if (isNode(node)) node.commentBefore = joinComments(node.commentBefore, ` ${text}`);
  }

  private pairOf(key: string): Pair | undefined {
    return this.map.items.find((pair) => keyOf(pair) === key);
  }

  private replaceValue(pair: Pair, value: unknown): void {
    const old = pair.value;
    const created: Node = this.translation.document.createNode(value);
    const keepsFlow = isMap(old) || isSeq(old) ? old.flow : undefined;
    if (keepsFlow && (isMap(created) || isSeq(created))) created.flow = true;
    if (isScalar(old)) {
      if (old.comment !== undefined) created.comment = old.comment;
      if (isScalar(created) && old.range) created.range = old.range;
    } else if (isScalar(pair.key)) {
      pair.key.commentBefore = joinComments(pair.key.commentBefore, ...commentsOf(old)) || null;
    }
    pair.value = created;
  }

  private keepComment(index: number, comment: string): void {
    const next = index === 0 ? this.map : this.map.items[index]?.key;
    if (isNode(next)) next.commentBefore = joinComments(comment, next.commentBefore);
    else this.map.comment = joinComments(this.map.comment, comment);
  }
}

function joinComments(...parts: (string | null | undefined)[]): string {
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n");
}

/** All comments in and around a node, in the order of the file. */
function commentsOf(node: unknown): string[] {
  if (!isNode(node)) return [];
  const found: string[] = [];
  visit(node, {
    Node: (_, inner) => {
      for (const comment of [inner.commentBefore, inner.comment]) {
        if (typeof comment === "string") found.push(comment);
      }
    },
  });
  return found;
}

export function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

function toPlain(node: unknown, { document }: Translation): unknown {
  if (node === null || node === undefined) return null;
  return typeof node === "object" && "toJS" in node ? (node as Node).toJS(document) : node;
}
