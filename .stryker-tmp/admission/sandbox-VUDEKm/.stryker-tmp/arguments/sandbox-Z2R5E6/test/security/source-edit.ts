import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * How to remove one defence from the source. A comment directly before the code marks the place:
 * `// defence: <id>` on its own line, or the same as a block comment inside a line. Edits spell no
 * identifiers of the source, so renames and moved files do not break them.
 */
export interface SourceEdit {
  mark: string;
  /** The kind of the marked node, if it is not the largest node that starts after the comment. */
  node?: keyof typeof ts.SyntaxKind;
  /**
   * The replacement of the marked node; an empty text removes it. `$0` is the text of the node,
   * `$1`, `$2`, … are its distinct identifiers in order of appearance, and `$left` or
   * `$arguments[0].expression` is the text of a child, by its name in the TypeScript syntax tree.
   * A pair replaces one piece of text inside the node.
   */
  without: string | { replace: string; by: string };
}

const markPattern = /(?:\/\/|\/\*) defence: ([a-z\d-]+)(?: \*\/|$)/gm;

/** The files of each mark in `packages`; a mark that occurs twice lists two files. */
export function findMarks(checkout: string): Map<string, string[]> {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: checkout });
  const marks = files.flatMap((file) =>
    [...readFileSync(join(checkout, file), "utf8").matchAll(markPattern)].map(([, id = ""]) => ({
      id,
      file,
    })),
  );
  const byId = Map.groupBy(marks, ({ id }) => id);
  return new Map([...byId].map(([id, found]) => [id, found.map(({ file }) => file)]));
}

/** The source text without the defence. Fails if the mark is missing or the edit does not fit. */
export function applyEdit(text: string, { mark, node: kind, without }: SourceEdit): string {
  const marks = [...text.matchAll(markPattern)].filter(([, id]) => id === mark);
  const [found] = marks;
  if (!found || marks.length > 1) throw new Error(`${marks.length} marks ${mark}, expected one`);
  const source = parse(text);
  const start = skipTrivia(text, found.index);
  const node = nodesAt(source, start).find((one) => !kind || one.kind === ts.SyntaxKind[kind]);
  if (!node) throw new Error(`no ${kind ?? "node"} after the mark ${mark}`);
  const old = node.getText(source);
  if (typeof without === "string") {
    const isItem = without === "" && text[node.end] === ",";
    return text.slice(0, start) + filled(without, node, source) + text.slice(node.end + +isItem);
  }
  const { replace, by } = without;
  const count = old.split(replace).length - 1;
  if (count !== 1) throw new Error(`${count} times "${replace}" after the mark ${mark}`);
  return text.slice(0, start) + old.replace(replace, () => by) + text.slice(node.end);
}

/** Messages of the TypeScript parser. */
export function syntaxErrors(text: string): string[] {
  const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
  return (diagnostics ?? []).map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, "\n"),
  );
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile("marked.ts", text, ts.ScriptTarget.Latest, true);
}

/** Start of the first token at or after the position. */
function skipTrivia(text: string, position: number): number {
  const scanner = ts.createScanner(
    ts.ScriptTarget.Latest,
    true,
    undefined,
    text,
    undefined,
    position,
  );
  scanner.scan();
  return scanner.getTokenStart();
}

/** All nodes that start at the position, the largest first. */
function nodesAt(source: ts.SourceFile, start: number): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (node.getStart(source) === start && !ts.isTemplateSpan(node)) found.push(node);
    if (node.pos <= start && start < node.end) ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

const placeholder = /\$(?:(\d+)|([a-z]\w*(?:\[\d+\])?(?:\.[a-z]\w*(?:\[\d+\])?)*))/gi;

function filled(template: string, node: ts.Node, source: ts.SourceFile): string {
  const names = identifiersIn(node, source);
  return template.replace(placeholder, (whole, index?: string, path = "") => {
    const text = index === "0" ? node.getText(source) : names[Number(index) - 1];
    const value = index ? text : childText(node, path, source);
    if (value === undefined) throw new Error(`${whole} is not in ${node.getText(source)}`);
    return value;
  });
}

function identifiersIn(root: ts.Node, source: ts.SourceFile): string[] {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(root);
  return [...names];
}

/** The text of the child, followed by the part of the path that does not lead to a node. */
function childText(node: ts.Node, path: string, source: ts.SourceFile): string | undefined {
  const steps = path.match(/\w+|\[\d+\]|\./g)?.filter((step) => step !== ".") ?? [];
  let current: unknown = node;
  let used = 0;
  let at = 0;
  for (const step of steps) {
    const next: unknown = Reflect.get(Object(current), step.replaceAll(/[[\]]/g, ""));
    if (!isNode(next) && !Array.isArray(next)) break;
    current = next;
    at = path.indexOf(step, at) + step.length;
    used += 1;
  }
  if (used === 0) return undefined;
  return textOf(current, source) + path.slice(at);
}

function textOf(value: unknown, source: ts.SourceFile): string {
  if (isNode(value)) return value.getText(source);
  const nodes = Array.isArray(value) ? value.filter(isNode) : [];
  return source.text.slice(nodes[0]?.getStart(source), nodes.at(-1)?.end);
}

function isNode(value: unknown): value is ts.Node {
  return typeof value === "object" && value !== null && "kind" in value && "getStart" in value;
}
