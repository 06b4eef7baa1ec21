import { type ConfigChange, UserError } from "@herdctl/protocol";
import { type Document, isMap, isScalar, isSeq, parseDocument } from "yaml";

export interface AgentEdit {
  /** The name as the file writes it, without the names of including fleets. */
  agent: string;
  /** Adds an agent to the fleet file. */
  isNew: boolean;
  changes: readonly ConfigChange[];
}

/** The text of a file after an edit. Comments, order and blank lines stay. */
export function editDocument(text: string, { agent, isNew, changes }: AgentEdit): string {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new UserError("usage", "the file is not valid YAML, so it cannot be edited here");
  const base = isNew ? addAgent(document, agent) : findAgent(document, agent);
  for (const { path, value } of changes) {
    const at = [...base, ...path];
    if (value === undefined) removeIn(document, at, base.length);
    else setIn(document, at, value);
  }
  return document.toString({ lineWidth: 0, ...styleOf(text) });
}

type NodePath = (string | number)[];

/** An agent is an item of `agents`, or it is the whole file. */
function findAgent(document: Document, name: string): NodePath {
  const agents = document.get("agents");
  if (!isSeq(agents)) return [];
  const index = agents.items.findIndex((item) => isMap(item) && item.get("name") === name);
  if (index !== -1) return ["agents", index];
  throw new UserError("usage", `the file does not describe the agent \`${name}\``);
}

function addAgent(document: Document, name: string): NodePath {
  if (!isSeq(document.get("agents"))) document.set("agents", document.createNode([]));
  const agents = document.get("agents");
  if (!isSeq(agents)) throw new UserError("usage", "`agents` is not a list");
  // An empty list is written as `[]`, and its items would be too.
  if (agents.items.length === 0) agents.flow = false;
  const isTaken = agents.items.some((item) => isMap(item) && item.get("name") === name);
  if (isTaken) throw new UserError("usage", `there is already an agent \`${name}\``);
  agents.add(document.createNode({ name }));
  return ["agents", agents.items.length - 1];
}

/** A scalar keeps its comment and its quotes. A short form is replaced by a block if needed. */
function setIn(document: Document, path: NodePath, value: unknown): void {
  for (let depth = 1; depth < path.length; depth++) {
    const parent = document.getIn(path.slice(0, depth), true);
    if (parent === undefined || isMap(parent) || isSeq(parent)) continue;
    document.setIn(path.slice(0, depth), document.createNode({}));
  }
  const old = document.getIn(path, true);
  if (isScalar(old) && (typeof value !== "object" || value === null)) {
    old.value = value;
    // A text of several lines is easier to read as a block.
    if (typeof value === "string" && value.includes("\n")) old.type = "BLOCK_LITERAL";
    return;
  }
  document.setIn(path, document.createNode(value));
}

/** Also removes the blocks that become empty, up to the agent. */
function removeIn(document: Document, path: NodePath, agentDepth: number): void {
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  const parentPath = path.slice(0, -1);
  const parent = document.getIn(parentPath, true);
  const isEmpty = isMap(parent) && parent.items.length === 0;
  if (isEmpty && parentPath.length > agentDepth) removeIn(document, parentPath, agentDepth);
}

/** The style of the file, so that an edit changes only what it must. */
function styleOf(text: string) {
  const firstItem = /^( *)- /m.exec(text)?.[1] ?? "  ";
  const isPadded = !/\{\S/.test(text) || /\{ /.test(text);
  return { indentSeq: firstItem.length > 0, flowCollectionPadding: isPadded };
}
