import type { core, z } from "zod";
import { suggest } from "./did-you-mean.ts";
import { formatPath, type Place, type Problem } from "./problem.ts";
import { knownKeys } from "./schema-keys.ts";
import { at, placeOf, type Tree, valuePlaceOf } from "./tree.ts";

type Issue = core.$ZodIssue;

/** What a schema finds wrong with a tree, in the words and at the places of whoever wrote it. */
export function explainIssues(issues: readonly Issue[], tree: Tree, schema: z.ZodType): Problem[] {
  return issues.flatMap((issue) => explainIssue(issue, tree, schema));
}

function explainIssue(issue: Issue, tree: Tree, schema: z.ZodType): Problem[] {
  const path = issue.path;
  const problem = (place: Place, message: string, hint: string, where = path): Problem => ({
    ...place,
    path: formatPath(where),
    message,
    hint,
  });

  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) =>
      problem(placeOf(tree, [...path, key]), `\`${key}\` is not known here`, suggest(key, known), [
        ...path,
        key,
      ]),
    );
  }
  if (issue.code === "invalid_union") return explainUnion(issue, tree, schema);
  if (issue.code === "invalid_key") {
    const inner = issue.issues.flatMap((one) => describe(one, undefined));
    const [message, hint] = inner.length === 2 ? inner : ["this name is not valid", "Rename it."];
    return [problem(placeOf(tree, path), message ?? "", hint ?? "")];
  }

  const value = at(tree, path);
  if (value === undefined) {
    const name = String(path.at(-1) ?? "content");
    const hint = hintOf(issue) ?? `Add \`${name}:\` here.`;
    return [problem(placeOf(tree, path), `\`${name}\` is missing`, hint)];
  }
  const [message, hint] = describe(issue, value);
  return [problem(valuePlaceOf(tree, path), message, hint)];
}

/** Of several forms, speak about the one the writer was evidently trying to write. */
function explainUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  tree: Tree,
  schema: z.ZodType,
): Problem[] {
  const path = issue.path;
  const value = at(tree, path);
  const branches = issue.errors ?? [];
  const attempted = branches.filter(
    (branch) => !branch.some((inner) => inner.path.length === 0 && isWrongKind(inner)),
  );
  const nearest = attempted.sort((a, b) => a.length - b.length)[0];
  if (nearest && value !== undefined) {
    const placed = nearest.map((inner) => ({ ...inner, path: [...path, ...inner.path] }) as Issue);
    return explainIssues(placed, tree, schema);
  }
  const custom = hintOf(issue);
  const expected = branches.flatMap((branch) => branch.map(expectation)).filter(Boolean);
  const hint = custom ?? `Write ${[...new Set(expected)].join(" or ")}.`;
  const shown =
    value === undefined
      ? `\`${String(path.at(-1))}\` is missing`
      : `${show(value)} does not fit here`;
  return [{ ...valuePlaceOf(tree, path), path: formatPath(path), message: shown, hint }];
}

function isWrongKind(issue: Issue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

function expectation(issue: Issue): string {
  if (issue.code === "invalid_value") return oneOf(issue.values);
  if (issue.code === "invalid_type") return kindNames[issue.expected] ?? issue.expected;
  return hintOf(issue) ?? "";
}

function describe(issue: Issue, value: Tree | undefined): [message: string, hint: string] {
  const custom = hintOf(issue);
  const shown = value === undefined ? "this" : show(value);
  switch (issue.code) {
    case "invalid_type":
      return [
        `${shown} is not ${kindNames[issue.expected] ?? issue.expected}`,
        custom ?? `Write ${kindNames[issue.expected] ?? issue.expected} here.`,
      ];
    case "invalid_value": {
      const values = issue.values.map(String);
      const written = value?.kind === "scalar" ? String(value.value) : "";
      const hint =
        custom ?? (values.length > 1 ? suggest(written, values) : `Write ${oneOf(issue.values)}.`);
      return [`${shown} is not one of ${values.join(", ")}`, hint];
    }
    case "too_small":
      return [
        `${shown} is too small`,
        custom ?? `At least ${issue.minimum}${issue.inclusive === false ? ", exclusive" : ""}.`,
      ];
    case "too_big":
      return [`${shown} is too large`, custom ?? `At most ${issue.maximum}.`];
    default:
      return [issue.message, custom ?? "Correct the value."];
  }
}

function hintOf(issue: Issue): string | undefined {
  const hint = issue.code === "custom" ? issue.params?.hint : undefined;
  return typeof hint === "string" ? hint : undefined;
}

function oneOf(values: readonly unknown[]): string {
  return values.map((value) => `\`${String(value)}\``).join(" or ");
}

function show(tree: Tree): string {
  if (tree.kind === "map") return "a block of keys";
  if (tree.kind === "list") return "a list";
  if (tree.variables.length > 0) return `the value of ${tree.variables.join(" and ")}`;
  if (tree.value === null) return "an empty value";
  const text = JSON.stringify(tree.value, (_, v) => (typeof v === "bigint" ? String(v) : v));
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
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
