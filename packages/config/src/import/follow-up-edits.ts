import { dirname, join, resolve } from "node:path";
import type { Problem, SourcePosition } from "@herdctl/protocol";
import { globSync } from "tinyglobby";
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import type { GrantEntry } from "../problem-cause.ts";
import { type ImportDraft, placeOf, writtenPath } from "./draft.ts";
import { renderDocument } from "./translate-document.ts";

/** Removes a key that has no counterpart. */
export function removeUnknownKey(draft: ImportDraft, problem: Problem): boolean {
  const removed = editAt(draft, problem, ({ map, pair }) => {
    if (pair === undefined) return false;
    map.items.splice(map.items.indexOf(pair), 1);
    return true;
  });
  if (removed) report(draft, problem, "decision", "there is no counterpart; the key is removed");
  return removed;
}

/** A schedule without a prompt started the agent with a general one. */
const generalPrompt = "Execute your configured task.";

export function addPrompt(draft: ImportDraft, problem: Problem): boolean {
  const added = editAt(draft, problem, ({ pair }) => {
    if (!isMap(pair?.value)) return false;
    pair.value.set("prompt", generalPrompt);
    return true;
  });
  const message = `a schedule needs a prompt here; it is "${generalPrompt}" now`;
  if (added) report(draft, problem, "decision", message);
  return added;
}

/**
 * Allows in the fleet file what a file may not set itself. The setting moves there, or the entry of the
 * file gets a permission.
 */
export function allowInFleetFile(
  draft: ImportDraft,
  problem: Problem,
  grants: readonly GrantEntry[],
  content: object,
): boolean {
  const changed = grants.filter((grant) => addToEntry(draft, grant, content));
  if (changed.length === 0) return false;
  const isMoved = "overrides" in content;
  if (isMoved)
    editAt(draft, problem, ({ map, pair }) => {
      if (pair === undefined) return false;
      map.items.splice(map.items.indexOf(pair), 1);
      return true;
    });
  const message = isMoved
    ? "an agent file cannot set this for a container; it is in the fleet file now"
    : `the fleet file allows it: \`${JSON.stringify(content)}\``;
  report(draft, problem, "moved", message);
  return true;
}

/** A container cannot write the fleet's own files, or read folders with secrets. */
export function refuseMount(draft: ImportDraft, problem: Problem, agent: string): boolean {
  const volume = /^docker\.volumes\[\d+\]$/.test(problem.path);
  const done = volume
    ? editAt(draft, problem, ({ list, item }) => {
        if (list === undefined || item === undefined) return false;
        list.splice(list.indexOf(item), 1);
        return true;
      })
    : chooseWorkspace(draft, problem, agent);
  const message = volume
    ? `the folder cannot be mounted: ${problem.message}`
    : `${problem.message}; its folder is \`workspaces/${agent}\` now`;
  if (done) report(draft, problem, "decision", message);
  return done;
}

function chooseWorkspace(draft: ImportDraft, { file }: SourcePosition, agent: string): boolean {
  const folder = join(dirname(draft.fleetFile), "workspaces", agent);
  if (draft.folders.includes(folder)) return false;
  draft.folders.push(folder);
  return editDocument(draft, file, (document) => {
    const written = writtenPath(dirname(file), folder);
    const agents = document.get("agents");
    const name = agent.split(".").at(-1);
    const inline = isSeq(agents)
      ? agents.items.find((item) => isMap(item) && item.get("name") === name)
      : undefined;
    if (isMap(inline)) inline.set("working_directory", written);
    else document.set("working_directory", written);
    return true;
  });
}

/** Adds settings to the entry of the fleet file that names a file. */
function addToEntry(draft: ImportDraft, grant: GrantEntry, content: object): boolean {
  const folder = dirname(grant.fleetFile);
  return editDocument(draft, grant.fleetFile, (document) => {
    const entries = document.get(grant.list);
    if (!isSeq(entries)) return false;
    const target = resolve(folder, grant.path);
    const own = entries.items.find(
      (item) => isMap(item) && resolve(folder, String(item.get("path"))) === target,
    );
    const entry = isMap(own) ? own : addEntry(document, grant, target, folder);
    return isMap(entry) && mergeInto(document, entry, relativePaths(content, folder));
  });
}

/** A file that only a pattern names gets a separate entry, which is merged with the other. */
function addEntry(document: Document, grant: GrantEntry, target: string, folder: string): unknown {
  const entries = document.get(grant.list);
  const isNamed = isSeq(entries) && entries.items.some((item) => isMatch(item, target, folder));
  if (!isNamed || !isSeq(entries)) return undefined;
  const created = document.createNode({ path: writtenPath(folder, target) });
  entries.add(created);
  return created;
}

function isMatch(item: unknown, target: string, folder: string): boolean {
  if (!isMap(item)) return false;
  return globSync([String(item.get("path"))], { cwd: folder, absolute: true }).some(
    (file) => resolve(file) === target,
  );
}

/** Returns whether something changed. Lists are joined. */
function mergeInto(document: Document, map: YAMLMap, content: unknown): boolean {
  if (typeof content !== "object" || content === null) return false;
  let isChanged = false;
  for (const [key, value] of Object.entries(content)) {
    const old = map.get(key, true) as Node | undefined;
    if (isMap(old) && isPlainObject(value))
      isChanged = mergeInto(document, old, value) || isChanged;
    else if (isSeq(old) && Array.isArray(value)) {
      const known = old.toJSON();
      const added = value.filter((one) => Array.isArray(known) && !known.includes(one));
      for (const one of added) old.add(document.createNode(one));
      isChanged ||= added.length > 0;
    } else if (JSON.stringify(old?.toJSON()) !== JSON.stringify(value)) {
      map.set(key, document.createNode(value));
      isChanged = true;
    }
  }
  return isChanged;
}

/** Absolute paths below the fleet's folder, as the fleet file would write them. */
function relativePaths(value: unknown, folder: string): unknown {
  if (typeof value === "string")
    return value.startsWith(`${folder}/`) ? `./${value.slice(folder.length + 1)}` : value;
  if (Array.isArray(value)) return value.map((one) => relativePaths(one, folder));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, relativePaths(inner, folder)]),
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface FoundNode {
  map: YAMLMap;
  /** Set if the position is that of a key. */
  pair: Pair | undefined;
  /** Set if the position is that of an item of a list. */
  list: unknown[] | undefined;
  item: unknown;
}

/** Edits what is at the position of a problem. */
function editAt(
  draft: ImportDraft,
  { file, line, column }: SourcePosition,
  edit: (found: FoundNode) => boolean,
): boolean {
  return editDocument(draft, file, (document, lines) => {
    const isThere = (node: unknown) => {
      const offset = isScalar(node) || isMap(node) || isSeq(node) ? node.range?.[0] : undefined;
      const position = offset === undefined ? undefined : lines.linePos(offset);
      return position?.line === line && position.col === column;
    };
    let isChanged = false;
    visit(document, {
      Map: (_, map) => {
        const pair = map.items.find(({ key }) => isThere(key));
        if (!pair) return undefined;
        isChanged = edit({ map, pair, list: undefined, item: undefined });
        return visit.BREAK;
      },
      Seq: (_, list, ancestors) => {
        const item = list.items.find((one) => isScalar(one) && isThere(one));
        const map = ancestors.findLast((one) => isMap(one));
        if (item === undefined || !isMap(map)) return undefined;
        isChanged = edit({ map, pair: undefined, list: list.items, item });
        return visit.BREAK;
      },
    });
    return isChanged;
  });
}

function editDocument(
  draft: ImportDraft,
  file: string,
  edit: (document: Document, lines: LineCounter) => boolean,
): boolean {
  const text = draft.text(file);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (!edit(document, lines)) return false;
  draft.texts.set(file, renderDocument(document, text));
  return true;
}

function report(
  draft: ImportDraft,
  problem: Problem,
  kind: "decision" | "moved",
  message: string,
): void {
  draft.findings.push({ ...placeOf(problem), kind, path: problem.path, message });
}
