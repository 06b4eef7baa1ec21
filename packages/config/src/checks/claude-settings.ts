import { dirname } from "node:path";
import { type Problem, UserError } from "@herdctl/protocol";
import { z } from "zod";
import {
  type ClaudeSettings,
  checkSettingsTree,
  findSettingsProblems,
  type SettingsKind,
} from "../claude-settings/check-settings.ts";
import { claudeHooksSchema } from "../claude-settings/hooks-schema.ts";
import { type ResolvedAgent, resolvePath } from "../resolve-agent.ts";
import { parseTree } from "../yaml/parse.ts";
import { checkTree, emptyTree, readText } from "../yaml/read-document.ts";
import { type Tree, toValue, treeAt, valuePositionOf } from "../yaml/tree.ts";
import type { SchemaFile } from "./output-schemas.ts";

type SettingsFields = Pick<ResolvedAgent, SettingsKind>;

export interface SettingsResult {
  /** The fields with the content of their files. */
  fields: SettingsFields;
  problems: Problem[];
  files: SchemaFile[];
}

/** Reads the settings files of an agent, and checks all its settings and hooks. */
export function readClaudeSettings(agent: ResolvedAgent, tree: Tree): SettingsResult {
  const result: SettingsResult = { fields: {}, problems: [], files: [] };
  for (const kind of ["settings", "policy"] as const) {
    const configured = agent[kind];
    if (configured === undefined) continue;
    result.fields[kind] = configured;
    if (typeof configured === "string") readFile(configured, kind, tree, result);
    else result.problems.push(...checkSettingsTree(tree, [kind], kind));
  }
  result.problems.push(...checkHooks(tree));
  return result;
}

/** For an agent that a program passes: the same, without positions. */
export function completeSettings(
  agent: Pick<ResolvedAgent, SettingsKind | "claude_hooks">,
  directory: string,
): { fields: SettingsFields; problems: { key: string; message: string }[] } {
  const fields: SettingsFields = {};
  const problems: { key: string; message: string }[] = [];
  for (const key of ["settings", "policy"] as const) {
    const configured = agent[key];
    if (configured === undefined) continue;
    const content =
      typeof configured === "string"
        ? toSettings(parseFile(resolvePath(directory, configured)))
        : configured;
    fields[key] = content;
    problems.push(...findSettingsProblems(content, key).map((message) => ({ key, message })));
  }
  if (agent.claude_hooks) {
    const found = findSettingsProblems({ hooks: agent.claude_hooks }, "settings");
    problems.push(...found.map((message) => ({ key: "claude_hooks", message })));
  }
  return { fields, problems };
}

function readFile(path: string, kind: SettingsKind, tree: Tree, result: SettingsResult): void {
  const file = resolvePath(dirname(treeAt(tree, [kind])?.place.file ?? ""), path);
  const found: SchemaFile = { file, path: [kind] };
  result.files.push(found);
  try {
    found.text = readText(file);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    result.problems.push({
      ...valuePositionOf(tree, [kind]),
      path: kind,
      message: error.message,
      hint: "Write the path of a JSON file with settings, relative to this file, or a block.",
    });
    return;
  }
  const parsed = parseTree(file, found.text);
  const content = parsed.tree ?? emptyTree(file);
  result.problems.push(...parsed.problems, ...checkSettingsTree(content, [], kind));
  result.fields[kind] = toSettings(content);
}

function parseFile(file: string): Tree {
  const { tree, problems } = parseTree(file, readText(file));
  const [problem] = problems;
  if (problem)
    throw new UserError("config_invalid", `${file}:${problem.line}: ${problem.message}`, {
      hint: problem.hint,
    });
  return tree ?? emptyTree(file);
}

function toSettings(tree: Tree): ClaudeSettings {
  const value = toValue(tree);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const hooksOnly = z.looseObject({ claude_hooks: claudeHooksSchema.optional() });

function checkHooks(tree: Tree): Problem[] {
  return treeAt(tree, ["claude_hooks"]) ? checkTree(hooksOnly, tree).problems : [];
}
