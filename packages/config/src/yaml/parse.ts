import type { Problem, SourcePosition } from "@herdctl/protocol";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
  type YAMLMap,
  Scalar as YamlScalar,
} from "yaml";
import { withCause } from "../problem-cause.ts";
import { explainSyntaxSlip } from "./common-slips.ts";
import type { ScalarValue, Tree, TreeEntry, TreeMap, WithheldVariable } from "./tree.ts";
import {
  escapeVariables,
  unescapeVariables,
  type VariableFilter,
  type VariableLookup,
  variablePattern,
} from "./variables.ts";

export interface ParsedDocument {
  /** Undefined if the text has no content or cannot be parsed. */
  tree: Tree | undefined;
  problems: Problem[];
}

/** Edits a document before it is converted, such as one in another format. */
export type DocumentTranslator = (document: Document, lines: LineCounter) => void;

const maxNodes = 200_000;
const maxDepth = 100;

/**
 * Parses YAML into a tree with positions. A document with syntax errors still reports all its
 * problems. A tab in the indentation, the most common error, is reported and then read as two
 * spaces, so that the rest of the file is checked too.
 *
 * A variable that `isVariableAllowed` refuses stays as it is written, whether it is set or not, and
 * is listed in `withheld`. Its value must not appear even in an error message.
 */
export function parseTree(
  file: string,
  text: string,
  variables?: VariableLookup,
  isVariableAllowed: VariableFilter = () => true,
  translate: DocumentTranslator = () => undefined,
): ParsedDocument {
  const problems: Problem[] = [];
  const escapedText = variables ? escapeVariables(text) : text;
  const { document, lines, source } = parseWithTabRecovery(file, escapedText, problems);
  const rows = source.split("\n");
  problems.push(...firstErrors(document.errors).map((error) => syntaxProblem(file, error, rows)));
  if (document.errors.length > 0 || document.contents === null)
    return { tree: undefined, problems };
  translate(document, lines);
  const converter = new TreeConverter(
    file,
    document,
    lines,
    source,
    problems,
    variables,
    isVariableAllowed,
  );
  return { tree: converter.convert(document.contents, 0), problems };
}

function parseWithTabRecovery(file: string, text: string, problems: Problem[]) {
  let source = text;
  for (;;) {
    const lines = new LineCounter();
    const document = parseDocument(source, { lineCounter: lines });
    const tabbed = tabbedLines(source, document, lines);
    if (tabbed.length === 0) return { document, lines, source };
    const rows = source.split("\n");
    for (const line of tabbed) {
      const row = rows[line - 1] ?? "";
      const indent = /^[ \t]*/.exec(row)?.[0] ?? "";
      problems.push({
        file,
        line,
        column: indent.indexOf("\t") + 1,
        path: "",
        message: "a tab is used for indentation",
        hint: "Indent with spaces: YAML does not allow tabs there.",
      });
      rows[line - 1] = indent.replaceAll("\t", "  ") + row.slice(indent.length);
    }
    source = rows.join("\n");
  }
}

function tabbedLines(source: string, document: Document, lines: LineCounter): number[] {
  if (document.errors.length === 0) return [];
  const rows = source.split("\n");
  const hasTabIndent = (line: number) => /^ *\t/.test(rows[line - 1] ?? "");
  if (document.errors.some((error) => error.code === "TAB_AS_INDENT")) {
    const found = rows.map((_, index) => index + 1).filter(hasTabIndent);
    if (found.length > 0) return found;
  }
  // Depending on what follows, the parser may report another error for the tabbed line.
  const errorLines = document.errors.map((error) => lines.linePos(error.pos[0]).line);
  return [...new Set(errorLines)].filter(hasTabIndent);
}

/** One mistake causes many parser errors; the first is enough. */
function firstErrors(errors: YAMLError[]): YAMLError[] {
  const first = errors.find((error) => !syntaxRemedies[error.code]);
  return errors.filter((error) => error === first || syntaxRemedies[error.code]);
}

function syntaxProblem(file: string, error: YAMLError, rows: readonly string[]): Problem {
  const start = error.linePos?.[0] ?? { line: 1, col: 1 };
  const known = syntaxRemedies[error.code] ?? explainSyntaxSlip(rows[start.line - 1] ?? "");
  const firstLine = error.message.split(" at line ")[0]?.split("\n")[0] ?? error.message;
  return {
    file,
    line: start.line,
    column: start.col,
    path: "",
    message: known?.message ?? `this is not valid YAML: ${firstLine.replace(/:$/, "")}`,
    hint: known?.hint ?? "Check the indentation, quotes and colons on this line and the one above.",
  };
}

const syntaxRemedies: Partial<Record<YAMLError["code"], { message: string; hint: string }>> = {
  DUPLICATE_KEY: {
    message: "this key is written twice in the same block",
    hint: "Keep one of the two, or merge them.",
  },
  MULTIPLE_DOCS: {
    message: "the file holds more than one YAML document",
    hint: "Keep one document per file: remove the `---` line or split the file.",
  },
};

class TreeConverter {
  private nodes = 0;

  constructor(
    private readonly file: string,
    private readonly document: Document,
    private readonly lines: LineCounter,
    private readonly source: string,
    private readonly problems: Problem[],
    private readonly variables: VariableLookup | undefined,
    private readonly isVariableAllowed: VariableFilter,
  ) {}

  convert(node: unknown, depth: number, parentPosition?: SourcePosition): Tree {
    const place = this.placeOfNode(node) ??
      parentPosition ?? { file: this.file, line: 1, column: 1 };
    this.nodes += 1;
    if (this.nodes > maxNodes || depth > maxDepth) {
      if (this.nodes <= maxNodes + 1 || depth === maxDepth + 1) this.reportTooLarge(place);
      return { kind: "scalar", place, value: null, variables: [] };
    }
    if (isAlias(node)) return this.convert(node.resolve(this.document), depth + 1, place);
    if (isMap(node)) return this.convertMap(node, place, depth);
    if (isSeq(node)) {
      const items = node.items.map((item) => this.convert(item, depth + 1, place));
      return { kind: "list", place, items };
    }
    return this.convertScalar(node, place);
  }

  private convertMap(map: YAMLMap, place: SourcePosition, depth: number): TreeMap {
    const entries = new Map<string, TreeEntry>();
    const merged: TreeMap[] = [];
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      const keyPlace = this.placeOfNode(pair.key) ?? place;
      const tree = this.convert(pair.value, depth + 1, keyPlace);
      if (key === "<<") {
        const sources = tree.kind === "list" ? tree.items : [tree];
        merged.push(...sources.filter((source) => source.kind === "map"));
      } else {
        entries.set(key, { keyPlace, tree });
      }
    }
    for (const source of merged) {
      for (const [key, entry] of source.entries) if (!entries.has(key)) entries.set(key, entry);
    }
    return { kind: "map", place, entries };
  }

  private convertScalar(node: unknown, place: SourcePosition): Tree {
    const parsed = isScalar(node) ? (node.value as ScalarValue) : null;
    if (this.variables === undefined || !isScalar(node) || typeof parsed !== "string") {
      return { kind: "scalar", place, value: parsed, variables: [] };
    }
    const value = unescapeVariables(parsed);
    const used: string[] = [];
    const withheld: WithheldVariable[] = [];
    let isUnset = false;
    const text = value.replace(variablePattern, (whole, escaped, name, fallback) => {
      if (escaped) return whole.slice(1);
      if (!this.isVariableAllowed(name)) {
        withheld.push({ name, place: this.placeOfVariable(name, node) });
        return whole;
      }
      const found = this.variables?.(name);
      if (found !== undefined) used.push(name);
      if (found !== undefined || fallback !== undefined) return found || (fallback ?? "");
      isUnset = true;
      this.reportUnset(name, node);
      return whole;
    });
    // A plain scalar keeps YAML's typing after substitution: `port: ${PORT}` is a number.
    const shouldRetype = text !== value && node.type === YamlScalar.PLAIN;
    const typed = shouldRetype ? parsePlainScalar(text) : text;
    return {
      kind: "scalar",
      place,
      value: typed,
      variables: used,
      isUnset: isUnset || withheld.length > 0,
      withheld,
      template: used.length > 0 ? value : undefined,
    };
  }

  private reportUnset(name: string, node: YamlScalar): void {
    const problem = {
      ...this.placeOfVariable(name, node),
      path: "",
      message: `the environment variable ${name} is not set`,
      hint: `Set ${name} in the environment or in .env, or give a default: \${${name}:-value}.`,
    };
    this.problems.push(withCause(problem, { kind: "variable_not_set", name }));
  }

  private placeOfVariable(name: string, node: YamlScalar): SourcePosition {
    const start = node.range?.[0] ?? 0;
    const end = node.range?.[1] ?? start;
    const offset = unescapeVariables(this.source.slice(start, end)).indexOf(`\${${name}`);
    return this.placeAt(start + Math.max(offset, 0));
  }

  private reportTooLarge(place: SourcePosition): void {
    this.problems.push({
      ...place,
      path: "",
      message: "the document is too large or refers to itself",
      hint: "Write it without aliases that repeat or contain each other.",
    });
  }

  private placeOfNode(node: unknown): SourcePosition | undefined {
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return undefined;
    return node.range ? this.placeAt(node.range[0]) : undefined;
  }

  private placeAt(offset: number): SourcePosition {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.file, line, column: col };
  }
}

function parsePlainScalar(text: string): ScalarValue {
  const { errors, contents } = parseDocument(text);
  return errors.length === 0 && isScalar(contents) ? (contents.value as ScalarValue) : text;
}
