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
import type { Place, Problem } from "./problem.ts";
import type { ScalarValue, Tree, TreeEntry, TreeMap, WithheldVariable } from "./tree.ts";
import {
  guardVariables,
  type MayUse,
  unguard,
  type Variables,
  variablePattern,
} from "./variables.ts";

export interface ParsedDocument {
  /** Undefined when the text has no content or its structure cannot be known. */
  tree: Tree | undefined;
  problems: Problem[];
}

const maxNodes = 200_000;
const maxDepth = 100;

/**
 * YAML text as a tree with places. A document with a syntax error still gives all that is wrong
 * with it; a tab in the indentation, the commonest one, is reported and then read as two spaces
 * so that the rest of the file can be checked in the same run.
 *
 * A variable that `mayUse` refuses stays as it is written, whether it is set or not, and the value
 * says so: what it holds must not even be part of an error message.
 */
export function parseTree(
  file: string,
  text: string,
  variables?: Variables,
  mayUse: MayUse = () => true,
): ParsedDocument {
  const problems: Problem[] = [];
  const guarded = variables ? guardVariables(text) : text;
  const { document, lines, source } = parseForgivingTabs(file, guarded, problems);
  problems.push(...withoutCascade(document.errors).map((error) => syntaxProblem(file, error)));
  if (document.errors.length > 0 || document.contents === null)
    return { tree: undefined, problems };
  const converter = new Converter(file, document, lines, source, problems, variables, mayUse);
  return { tree: converter.convert(document.contents, 0), problems };
}

function parseForgivingTabs(file: string, text: string, problems: Problem[]) {
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
  // Depending on what follows, the parser may blame the structure on the tabbed line instead.
  const blamed = document.errors.map((error) => lines.linePos(error.pos[0]).line);
  return [...new Set(blamed)].filter(hasTabIndent);
}

/** One slip makes the parser complain about all that follows: the first complaint says it. */
function withoutCascade(errors: YAMLError[]): YAMLError[] {
  const first = errors.find((error) => !syntaxRemedies[error.code]);
  return errors.filter((error) => error === first || syntaxRemedies[error.code]);
}

function syntaxProblem(file: string, error: YAMLError): Problem {
  const start = error.linePos?.[0] ?? { line: 1, col: 1 };
  const known = syntaxRemedies[error.code];
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

class Converter {
  private nodes = 0;

  constructor(
    private readonly file: string,
    private readonly document: Document,
    private readonly lines: LineCounter,
    private readonly source: string,
    private readonly problems: Problem[],
    private readonly variables: Variables | undefined,
    private readonly mayUse: MayUse,
  ) {}

  convert(node: unknown, depth: number, around?: Place): Tree {
    const place = this.placeOfNode(node) ?? around ?? { file: this.file, line: 1, column: 1 };
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

  private convertMap(map: YAMLMap, place: Place, depth: number): TreeMap {
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

  private convertScalar(node: unknown, place: Place): Tree {
    const parsed = isScalar(node) ? (node.value as ScalarValue) : null;
    if (this.variables === undefined || !isScalar(node) || typeof parsed !== "string") {
      return { kind: "scalar", place, value: parsed, variables: [] };
    }
    const value = unguard(parsed);
    const used: string[] = [];
    const withheld: WithheldVariable[] = [];
    let isUnset = false;
    const text = value.replace(variablePattern, (whole, escaped, name, fallback) => {
      if (escaped) return whole.slice(1);
      if (!this.mayUse(name)) {
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
    // A plain scalar that was filled in keeps YAML's typing: `port: ${PORT}` is a number.
    const retype = text !== value && node.type === YamlScalar.PLAIN;
    const typed = retype ? plainValue(text) : text;
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
    this.problems.push({
      ...this.placeOfVariable(name, node),
      path: "",
      message: `the environment variable ${name} is not set`,
      hint: `Set ${name} in the environment or in .env, or give a default: \${${name}:-value}.`,
    });
  }

  private placeOfVariable(name: string, node: YamlScalar): Place {
    const start = node.range?.[0] ?? 0;
    const end = node.range?.[1] ?? start;
    const offset = unguard(this.source.slice(start, end)).indexOf(`\${${name}`);
    return this.placeAt(start + Math.max(offset, 0));
  }

  private reportTooLarge(place: Place): void {
    this.problems.push({
      ...place,
      path: "",
      message: "the document is too large or refers to itself",
      hint: "Write it without aliases that repeat or contain each other.",
    });
  }

  private placeOfNode(node: unknown): Place | undefined {
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return undefined;
    return node.range ? this.placeAt(node.range[0]) : undefined;
  }

  private placeAt(offset: number): Place {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.file, line, column: col };
  }
}

function plainValue(text: string): ScalarValue {
  const { errors, contents } = parseDocument(text);
  return errors.length === 0 && isScalar(contents) ? (contents.value as ScalarValue) : text;
}
