import { readFileSync } from "node:fs";
import type { z } from "zod";
import { UserError } from "../errors/user-error.ts";
import { explainIssues } from "./explain.ts";
import { parseTree } from "./parse.ts";
import { byPlace, type Problem, ProblemsError } from "./problem.ts";
import { type Tree, toValue } from "./tree.ts";
import type { Variables } from "./variables.ts";

/**
 * A YAML document checked against a schema: the value, or a `ProblemsError` that holds everything
 * wrong with it at once.
 */
export function readDocument<S extends z.ZodType>(
  schema: S,
  source: { file: string; text?: string },
  variables?: Variables,
): z.output<S> {
  const text = source.text ?? readText(source.file);
  const { tree, problems } = parseTree(source.file, text, variables);
  const checked = checkTree(schema, tree ?? emptyTree(source.file));
  const all = tree || problems.length === 0 ? [...problems, ...checked.problems] : problems;
  if (all.length > 0 || !checked.ok) throw new ProblemsError("document_invalid", all.sort(byPlace));
  return checked.value;
}

export type Checked<T> = { ok: true; value: T; problems: [] } | { ok: false; problems: Problem[] };

export function checkTree<S extends z.ZodType>(schema: S, tree: Tree): Checked<z.output<S>> {
  const result = schema.safeParse(toValue(tree));
  if (result.success) return { ok: true, value: result.data, problems: [] };
  return { ok: false, problems: explainIssues(result.error.issues, tree, schema) };
}

export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new UserError("file_unreadable", `${file} cannot be read (${reason})`, { cause });
  }
}

export function emptyTree(file: string): Tree {
  return { kind: "map", place: { file, line: 1, column: 1 }, entries: new Map() };
}
