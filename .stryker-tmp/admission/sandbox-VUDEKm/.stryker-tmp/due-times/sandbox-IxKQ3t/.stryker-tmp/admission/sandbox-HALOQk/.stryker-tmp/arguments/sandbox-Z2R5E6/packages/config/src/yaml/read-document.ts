import { readFileSync } from "node:fs";
import {
  comparePositions,
  errorCode,
  type Problem,
  ProblemsError,
  UserError,
} from "@herdctl/protocol";
import type { z } from "zod";
import { explainIssues } from "./explain-issues.ts";
import { parseTree } from "./parse.ts";
import { type Tree, toValue } from "./tree.ts";
import type { VariableLookup } from "./variables.ts";

/**
 * A YAML document checked against a schema. Returns the value, or throws a `ProblemsError` with all
 * problems.
 */
export function readDocument<S extends z.ZodType>(
  schema: S,
  source: { file: string; text?: string },
  variables?: VariableLookup,
): z.output<S> {
  const text = source.text ?? readText(source.file);
  const { tree, problems } = parseTree(source.file, text, variables);
  const checked = checkTree(schema, tree ?? emptyTree(source.file));
  const all = tree || problems.length === 0 ? [...problems, ...checked.problems] : problems;
  if (all.length > 0 || !checked.ok)
    throw new ProblemsError("document_invalid", all.sort(comparePositions));
  return checked.value;
}

export type CheckResult<T> =
  | { ok: true; value: T; problems: [] }
  | { ok: false; problems: Problem[] };

export function checkTree<S extends z.ZodType>(
  schema: S,
  tree: Tree,
  { isPartial = false } = {},
): CheckResult<z.output<S>> {
  const result = schema.safeParse(toValue(tree));
  if (result.success) return { ok: true, value: result.data, problems: [] };
  return { ok: false, problems: explainIssues(result.error.issues, tree, schema, isPartial) };
}

export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const reason = errorCode(cause) ?? "unknown error";
    throw new UserError("file_unreadable", `${file} cannot be read (${reason})`, { cause });
  }
}

export function emptyTree(file: string): Tree {
  return { kind: "map", place: { file, line: 1, column: 1 }, entries: new Map() };
}
