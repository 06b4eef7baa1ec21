import type { core, z } from "zod";
import { suggest } from "./did-you-mean.ts";
import { formatPath, type Place, type Problem } from "./problem.ts";
import { descriptionAt, knownKeys } from "./schema-at.ts";
import { at, isUnset, placeOf, type Tree, valuePlaceOf } from "./tree.ts";

type Issue = core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: "invalid_union" }>;

/** What a schema finds wrong with a tree, in the words and at the places of whoever wrote it. */
export function explainIssues(issues: readonly Issue[], tree: Tree, schema: z.ZodType): Problem[] {
  const telling = issues.filter(({ path }) => !isUnset(at(tree, path)));
  return telling.flatMap((issue) => explainIssue(issue, tree, schema));
}

function explainIssue(issue: Issue, tree: Tree, schema: z.ZodType): Problem[] {
  const path = issue.path;
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, tree, path);
    return issue.keys.map((key) => {
      const whole = [...path, key];
      const message = `\`${key}\` is not known here`;
      return problem(placeOf(tree, whole), whole, message, suggest(key, known));
    });
  }
  if (issue.code === "invalid_key") {
    const inner = issue.issues[0];
    const { message, hint } = inner ? describe(inner, undefined) : fallback;
    return [problem(placeOf(tree, path), path, message, hint)];
  }
  if (issue.code === "invalid_union") return explainUnion(issue, tree, schema);

  const value = at(tree, path);
  const purpose = descriptionAt(schema, tree, path);
  if (value === undefined) return [missing(tree, path, purpose)];
  const { message, hint } = describe(issue, value);
  const told = hintOf(issue) === undefined && purpose ? `${hint} (${purpose})` : hint;
  return [problem(valuePlaceOf(tree, path), path, message, told)];
}

/** Of several forms, speak about the one the writer was evidently trying to write. */
function explainUnion(issue: UnionIssue, tree: Tree, schema: z.ZodType): Problem[] {
  const path = issue.path;
  const value = at(tree, path);
  const purpose = descriptionAt(schema, tree, path);
  if (value === undefined) return [missing(tree, path, purpose, discriminators(issue))];
  const place = valuePlaceOf(tree, path);
  const options = discriminators(issue);
  if (options.length > 0)
    return [problem(place, path, notOneOf(value, options), suggest(text(value), options))];

  const tried = issue.errors.filter((branch) => !branch.some(isWrongKind));
  const nearest = tried.toSorted((a, b) => effort(a) - effort(b))[0];
  if (nearest) {
    const placed = nearest.map((inner) => ({ ...inner, path: [...path, ...inner.path] }));
    return explainIssues(placed, tree, schema);
  }
  const choices = issue.errors
    .flat()
    .flatMap((inner) => (inner.code === "invalid_value" ? inner.values.map(String) : []));
  const message =
    choices.length > 0 ? notOneOf(value, choices) : `${show(value)} does not fit here`;
  const hint =
    choices.length > 0 ? suggest(text(value), choices) : `Expected: ${purpose ?? "another form"}.`;
  return [problem(place, path, message, hint)];
}

/** Fewer and deeper complaints mean the form was nearer to what was written; unknown keys weigh most. */
function effort(branch: readonly Issue[]): number {
  return branch.reduce(
    (sum, issue) => sum + (issue.code === "unrecognized_keys" ? 3 * issue.keys.length : 1),
    0,
  );
}

function isWrongKind(issue: Issue): boolean {
  return (
    issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value")
  );
}

function discriminators(issue: UnionIssue): string[] {
  const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
  return options.map(String);
}

function missing(
  tree: Tree,
  path: readonly PropertyKey[],
  purpose?: string,
  options: string[] = [],
): Problem {
  const name = String(path.at(-1) ?? "content");
  const choice = options.length > 0 ? ` One of ${options.join(", ")}.` : "";
  const what = purpose ? ` (${purpose})` : "";
  return problem(
    placeOf(tree, path),
    path,
    `\`${name}\` is missing`,
    `Add \`${name}:\` here.${choice}${what}`,
  );
}

const fallback = { message: "this is not valid here", hint: "Correct the value." };

function describe(issue: Issue, value: Tree | undefined): { message: string; hint: string } {
  const shown = value === undefined ? "this" : show(value);
  const custom = hintOf(issue);
  if (custom !== undefined) return { message: withoutSecret(issue.message, value), hint: custom };
  if (issue.code === "invalid_type") {
    const kind = kindNames[issue.expected] ?? issue.expected;
    return { message: `${shown} is not ${kind}`, hint: `Write ${kind}.` };
  }
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const hint =
      values.length > 1 ? suggest(value ? text(value) : "", values) : `Write \`${values[0]}\`.`;
    return {
      message: `${shown} is not ${values.length > 1 ? "one of " : ""}${values.join(", ")}`,
      hint,
    };
  }
  if (issue.code === "too_small") {
    const bound = issue.inclusive === false ? "more than" : "at least";
    return { message: `${shown} is too small`, hint: `Write ${bound} ${issue.minimum}.` };
  }
  if (issue.code === "too_big") {
    return { message: `${shown} is too large`, hint: `Write at most ${issue.maximum}.` };
  }
  return fallback;
}

function hintOf(issue: Issue): string | undefined {
  const hint = issue.code === "custom" ? issue.params?.hint : undefined;
  return typeof hint === "string" ? hint : undefined;
}

function problem(
  place: Place,
  path: readonly PropertyKey[],
  message: string,
  hint: string,
): Problem {
  return { ...place, path: formatPath(path), message, hint };
}

function notOneOf(value: Tree, options: readonly string[]): string {
  return `${show(value)} is not one of ${options.join(", ")}`;
}

function text(tree: Tree): string {
  return tree.kind === "scalar" ? String(tree.value) : "";
}

/** A value as it was written, unless it came out of the environment and may be a secret. */
function show(tree: Tree): string {
  if (tree.kind === "map") return "a block of keys";
  if (tree.kind === "list") return "a list";
  if (tree.variables.length > 0) return `the value of ${tree.variables.join(" and ")}`;
  if (tree.value === null) return "an empty value";
  const written = typeof tree.value === "string" ? JSON.stringify(tree.value) : String(tree.value);
  return written.length > 60 ? `${written.slice(0, 57)}…` : written;
}

function withoutSecret(message: string, value: Tree | undefined): string {
  if (value?.kind !== "scalar" || value.variables.length === 0) return message;
  return message.replaceAll(JSON.stringify(String(value.value)), show(value));
}

const kindNames: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a block of keys",
  record: "a block of keys",
  array: "a list",
};
