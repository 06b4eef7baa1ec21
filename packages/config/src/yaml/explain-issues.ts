import { formatPath, type Problem, type SourcePosition } from "@herdctl/protocol";
import type { core, z } from "zod";
import { withCause } from "../problem-cause.ts";
import { foreignKeyHint, shapeHint } from "./common-slips.ts";
import { didYouMeanHint, suggestionHint } from "./did-you-mean.ts";
import { descriptionAt, listKnownKeys } from "./schema-lookup.ts";
import { isUnset, keyPositionOf, type Tree, treeAt, valuePositionOf } from "./tree.ts";

type Issue = core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: "invalid_union" }>;

/**
 * Turns schema issues into problems with source positions and readable messages. `isPartial`:
 * missing keys are no problem.
 */
export function explainIssues(
  issues: readonly Issue[],
  tree: Tree,
  schema: z.ZodType,
  isPartial = false,
): Problem[] {
  const relevantIssues = issues.filter(({ path }) => !isUnset(treeAt(tree, path)));
  return relevantIssues.flatMap((issue) => explainIssue(issue, tree, schema, isPartial));
}

function explainIssue(issue: Issue, tree: Tree, schema: z.ZodType, isPartial: boolean): Problem[] {
  const path = issue.path;
  if (issue.code === "unrecognized_keys") {
    const known = listKnownKeys(schema, tree, path);
    return issue.keys.map((key, index) => {
      const whole = [...path, key];
      const message = `unknown key \`${key}\``;
      // The list of all keys once is enough.
      const all = index === 0 ? known : [];
      const hint =
        foreignKeyHint(key, known) ?? didYouMeanHint(key, known) ?? suggestionHint(key, all);
      const problem = createProblem(keyPositionOf(tree, whole), whole, message, hint);
      return withCause(problem, { kind: "unknown_key" });
    });
  }
  if (issue.code === "invalid_key") {
    const inner = issue.issues[0];
    const { message, hint } = inner ? describeIssue(inner, undefined) : fallbackDescription;
    return [createProblem(keyPositionOf(tree, path), path, message, hint)];
  }
  if (issue.code === "invalid_union") return explainUnion(issue, tree, schema, isPartial);

  const value = treeAt(tree, path);
  const purpose = descriptionAt(schema, tree, path);
  if (value === undefined) return isPartial ? [] : [missingProblem(tree, path, purpose)];
  const { message, hint } = describeIssue(issue, value);
  const shape = shapeHint(path, value);
  const remedy = shape ?? hint;
  const fullHint = customHint(issue) === undefined && purpose ? `${remedy} (${purpose})` : remedy;
  return [createProblem(valuePositionOf(tree, path), path, message, fullHint)];
}

/** For a union, explains the form that the author most likely meant. */
function explainUnion(
  issue: UnionIssue,
  tree: Tree,
  schema: z.ZodType,
  isPartial: boolean,
): Problem[] {
  const path = issue.path;
  const value = treeAt(tree, path);
  const purpose = descriptionAt(schema, tree, path);
  if (value === undefined) {
    return isPartial ? [] : [missingProblem(tree, path, purpose, listDiscriminators(issue))];
  }
  const place = valuePositionOf(tree, path);
  const options = listDiscriminators(issue);
  if (options.length > 0)
    return [
      createProblem(
        place,
        path,
        notOneOfText(value, options),
        suggestionHint(scalarText(value), options),
      ),
    ];

  const candidateBranches = issue.errors.filter((branch) => !branch.some(isTypeMismatch));
  const nearest = candidateBranches.toSorted((a, b) => mismatchScore(a) - mismatchScore(b))[0];
  if (nearest) {
    const placed = nearest.map((inner) => ({ ...inner, path: [...path, ...inner.path] }));
    return explainIssues(placed, tree, schema, isPartial);
  }
  const choices = issue.errors
    .flat()
    .flatMap((inner) => (inner.code === "invalid_value" ? inner.values.map(String) : []));
  const message =
    choices.length > 0 ? notOneOfText(value, choices) : `${displayValue(value)} is not valid here`;
  const hint =
    choices.length > 0
      ? suggestionHint(scalarText(value), choices)
      : `Expected: ${purpose ?? "another form."}`;
  return [createProblem(place, path, message, hint)];
}

/** Fewer issues mean a closer match. Unknown keys weigh most. */
function mismatchScore(branch: readonly Issue[]): number {
  return branch.reduce(
    (sum, issue) => sum + (issue.code === "unrecognized_keys" ? 3 * issue.keys.length : 1),
    0,
  );
}

function isTypeMismatch(issue: Issue): boolean {
  return (
    issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value")
  );
}

function listDiscriminators(issue: UnionIssue): string[] {
  const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
  return options.map(String);
}

function missingProblem(
  tree: Tree,
  path: readonly PropertyKey[],
  purpose?: string,
  options: string[] = [],
): Problem {
  const name = String(path.at(-1) ?? "content");
  const choice = options.length > 0 ? ` Use one of ${options.join(", ")}.` : "";
  const what = purpose ? ` (${purpose})` : "";
  return createProblem(
    keyPositionOf(tree, path),
    path,
    `\`${name}\` is missing`,
    shapeHint(path, undefined) ?? `Add \`${name}:\` here.${choice}${what}`,
  );
}

const fallbackDescription = { message: "this is not valid here", hint: "Correct the value." };

function describeIssue(issue: Issue, value: Tree | undefined): { message: string; hint: string } {
  const shown = value === undefined ? "this" : displayValue(value);
  const custom = customHint(issue);
  if (custom !== undefined) return { message: maskSecret(issue.message, value), hint: custom };
  if (issue.code === "invalid_type") {
    const kind = kindNames[issue.expected] ?? issue.expected;
    return { message: `${shown} is not ${kind}`, hint: `Write ${kind}.` };
  }
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const hint =
      values.length > 1
        ? suggestionHint(value ? scalarText(value) : "", values)
        : `Write \`${values[0]}\`.`;
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
  return fallbackDescription;
}

function customHint(issue: Issue): string | undefined {
  const hint = issue.code === "custom" ? issue.params?.hint : undefined;
  return typeof hint === "string" ? hint : undefined;
}

function createProblem(
  place: SourcePosition,
  path: readonly PropertyKey[],
  message: string,
  hint: string,
): Problem {
  return { ...place, path: formatPath(path), message, hint };
}

function notOneOfText(value: Tree, options: readonly string[]): string {
  return `${displayValue(value)} is not one of ${options.join(", ")}`;
}

function scalarText(tree: Tree): string {
  return tree.kind === "scalar" ? String(tree.value) : "";
}

/** The value as it was written, unless it came from the environment and may be a secret. */
function displayValue(tree: Tree): string {
  if (tree.kind === "map") return "a block of keys";
  if (tree.kind === "list") return "a list";
  if (tree.variables.length > 0) return `the value of ${tree.variables.join(" and ")}`;
  if (tree.value === null) return "an empty value";
  const written = typeof tree.value === "string" ? JSON.stringify(tree.value) : String(tree.value);
  return written.length > 60 ? `${written.slice(0, 57)}…` : written;
}

function maskSecret(message: string, value: Tree | undefined): string {
  if (value?.kind !== "scalar" || value.variables.length === 0) return message;
  return message.replaceAll(JSON.stringify(String(value.value)), displayValue(value));
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
