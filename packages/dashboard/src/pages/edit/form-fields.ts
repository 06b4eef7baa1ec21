import type { ConfigValueView } from "@herdctl/server/contract";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";

type FieldKind = "text" | "prompt" | "number" | "choice" | "list";

export interface FormField {
  path: readonly string[];
  kind: FieldKind;
  /** The path in the resolved configuration, where it differs. */
  resolvedPath?: string;
}

export const agentFields: { title: string; fields: FormField[] }[] = [
  {
    title: "Agent",
    fields: [
      { path: ["description"], kind: "text" },
      { path: ["labels"], kind: "list" },
      { path: ["working_directory"], kind: "text", resolvedPath: "working_directory.path" },
      { path: ["runtime"], kind: "choice", resolvedPath: "runtime.type" },
      { path: ["model"], kind: "text" },
      { path: ["effort"], kind: "choice" },
    ],
  },
  {
    title: "Prompts",
    fields: [
      { path: ["default_prompt"], kind: "prompt" },
      { path: ["system_prompt"], kind: "prompt" },
      { path: ["session", "mode"], kind: "choice" },
    ],
  },
  {
    title: "Permissions",
    fields: [
      { path: ["permission_mode"], kind: "choice" },
      { path: ["allowed_tools"], kind: "list" },
      { path: ["denied_tools"], kind: "list" },
    ],
  },
  {
    title: "Limits",
    fields: [
      { path: ["max_turns"], kind: "number" },
      { path: ["max_budget_usd"], kind: "number" },
      { path: ["budget", "daily_usd"], kind: "number" },
      { path: ["timeouts", "total"], kind: "text" },
      { path: ["timeouts", "stall"], kind: "text" },
      { path: ["retry", "max_attempts"], kind: "number" },
      { path: ["max_concurrent"], kind: "number" },
      { path: ["priority"], kind: "number" },
    ],
  },
];

/** The fields of a schedule, by its type. */
export function scheduleFields(name: string, type: string): FormField[] {
  const at = (key: string, kind: FieldKind): FormField => ({
    path: ["schedules", name, key],
    kind,
  });
  const timing: Record<string, FormField[]> = {
    interval: [at("every", "text"), at("timezone", "text"), at("catch_up", "choice")],
    cron: [at("cron", "text"), at("timezone", "text"), at("catch_up", "choice")],
    at: [at("at", "text"), at("timezone", "text")],
  };
  return [
    ...(timing[type] ?? []),
    at("prompt", "prompt"),
    at("enabled", "choice"),
    at("overlap", "choice"),
  ];
}

/** The texts of a form, by path. A missing text means that the file does not set the field. */
export type FormTexts = Record<string, string>;

export function keyOf(path: readonly string[]): string {
  return path.join(".");
}

/** What the files set, as texts, and the defaults of the other fields. */
export function readTexts(
  values: readonly ConfigValueView[],
  fields: readonly FormField[],
): { texts: FormTexts; defaults: FormTexts } {
  const texts: FormTexts = {};
  const defaults: FormTexts = {};
  for (const { path, kind, resolvedPath } of fields) {
    const key = keyOf(path);
    const name = resolvedPath ?? key;
    const found = values.filter((value) => value.path === name || isItem(value.path, name, kind));
    const text = found
      .filter(({ value }) => !Array.isArray(value))
      .map(({ value }) => String(value))
      .join("\n");
    const isWritten = found.some(({ from }) => from !== undefined);
    if (isWritten) texts[key] = text;
    else if (text !== "") defaults[key] = text;
  }
  return { texts, defaults };
}

function isItem(path: string, name: string, kind: FieldKind): boolean {
  return kind === "list" && path.startsWith(`${name}[`);
}

interface Change {
  path: string[];
  value?: unknown;
}

/** The changes that lead from the written texts to those of the form. */
export function toChanges(
  fields: readonly FormField[],
  written: FormTexts,
  edited: FormTexts,
): Change[] {
  return fields.flatMap(({ path, kind }): Change[] => {
    const key = keyOf(path);
    const [old = "", text = ""] = [written[key], edited[key]];
    if (old.trim() === text.trim()) return [];
    return [
      text.trim() === ""
        ? { path: [...path] }
        : { path: [...path], value: parseText(text.trim(), kind, path.at(-1)) },
    ];
  });
}

/** A text that is no number stays a text, so that the check explains the problem. */
function parseText(text: string, kind: FieldKind, name: string | undefined): unknown {
  if (kind === "list")
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  if (name === "enabled") return text === "true";
  const number = Number(text);
  return kind === "number" && Number.isFinite(number) ? number : text;
}

type Schema = ResponseOfRoute<"agentSchema">;

/** The description and the choices of a field, from the schema that checks the files. */
export function describeField(
  schema: Schema | undefined,
  path: readonly string[],
  type?: string,
): { description: string; choices: string[] } {
  const nodes = path.reduce<Schema[]>(
    (found, key) => found.flatMap(alternatives).flatMap((node) => childOf(node, key, type)),
    schema ? [schema] : [],
  );
  const description = nodes.map((node) => node.description).find((text) => text !== undefined);
  const choices = nodes.flatMap(alternatives).flatMap(({ enum: values, type: kind }) => {
    if (Array.isArray(values)) return values.map(String);
    return kind === "boolean" ? ["true", "false"] : [];
  });
  return { description: String(description ?? ""), choices: [...new Set(choices)] };
}

function alternatives(node: Schema): Schema[] {
  const options = [node.anyOf, node.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [node, ...options.filter(isSchema).flatMap(alternatives)];
}

/** Of several kinds of schedules, only the one of this type. */
function childOf(node: Schema, key: string, type: string | undefined): Schema[] {
  const { properties, additionalProperties } = node;
  const own = isSchema(properties) ? properties[key] : undefined;
  const kind = isSchema(properties) ? properties.type : undefined;
  if (isSchema(kind) && kind.const !== undefined && type !== undefined && kind.const !== type)
    return [];
  if (isSchema(own)) return [own];
  return isSchema(additionalProperties) ? [additionalProperties] : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
