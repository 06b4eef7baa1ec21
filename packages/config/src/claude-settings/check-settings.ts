import type { Problem } from "@herdctl/protocol";
import { z } from "zod";
import { checkTree } from "../yaml/read-document.ts";
import { keyPositionOf, type Tree, treeAt } from "../yaml/tree.ts";
import { claudeHooksSchema } from "./hooks-schema.ts";
import { ownedSettings } from "./owned-settings.ts";
import settingsTypes from "./settings-schema.json" with { type: "json" };

/** Settings of Claude Code. Keys that this version does not know are passed on unchecked. */
export type ClaudeSettings = Record<string, unknown>;

export type SettingsKind = "settings" | "policy";

let compiled: z.ZodType | undefined;

/**
 * A value of a wrong type makes Claude Code drop all settings without a word, so they are checked
 * against the types that the Agent SDK declares. Compiled for the first agent that has settings.
 */
function settingsSchema(): z.ZodType {
  compiled ??= compileSettingsSchema();
  return compiled;
}

function compileSettingsSchema(): z.ZodType {
  const { hooks: _hooks, ...properties } = settingsTypes.properties;
  const withoutHooks = { ...settingsTypes, properties };
  // The types of JSON files have no literals, such as `"object"`.
  const types = z.fromJSONSchema(withoutHooks as Parameters<typeof z.fromJSONSchema>[0]);
  return z.intersection(types, z.looseObject({ hooks: claudeHooksSchema.optional() }));
}

/** Problems of settings, with the positions of the file that contains them. */
export function checkSettingsTree(
  root: Tree,
  path: readonly string[],
  kind: SettingsKind,
): Problem[] {
  const tree = treeAt(root, path);
  if (!tree) return [];
  const inPlace = (inner: string) => [...path, inner].filter((part) => part !== "").join(".");
  const typeProblems = checkTree(settingsSchema(), tree).problems.map((problem) => ({
    ...problem,
    path: inPlace(problem.path),
  }));
  const owned = ownedOf(kind).filter((setting) => treeAt(tree, setting.path));
  return [
    ...typeProblems,
    ...owned.map((setting) => ({
      ...keyPositionOf(tree, setting.path),
      path: inPlace(setting.path.join(".")),
      message: refusalOf(setting),
      hint: setting.hint,
    })),
  ];
}

/** One sentence for each problem of settings that a program passes. */
export function findSettingsProblems(settings: unknown, kind: SettingsKind): string[] {
  const { error } = settingsSchema().safeParse(settings);
  const types = (error?.issues ?? []).map(
    ({ path, message }) => `\`${path.join(".")}\`: ${message}`,
  );
  const owned = ownedOf(kind).filter(({ path }) => hasValueAt(settings, path));
  return [
    ...types,
    ...owned.map((setting) => `\`${setting.path.join(".")}\`: ${refusalOf(setting)}`),
  ];
}

/** A policy may restrict the sandbox further. */
function ownedOf(kind: SettingsKind) {
  return kind === "settings"
    ? ownedSettings
    : ownedSettings.filter(({ path }) => path[0] !== "sandbox");
}

function refusalOf({ path, reason }: (typeof ownedSettings)[number]): string {
  return `\`${path.join(".")}\` cannot be set here: ${reason}`;
}

function hasValueAt(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return value !== undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return false;
  return hasValueAt(Reflect.get(value, key), rest);
}
