import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type Coverage,
  claudeCoverage,
} from "../../packages/config/src/claude-code/coverage-tables.ts";
import { agentSchema } from "../../packages/config/src/schema/agent.ts";
import {
  compareWithTable,
  listHelpFlags,
  listTypeKeys,
  readClaudeHelp,
  sdkTypesFile,
} from "./list-claude-options.ts";
import { optionGroups } from "./option-cases.ts";

const { sdkOptions, cliFlags, settingsKeys } = claudeCoverage;
const types = readFileSync(sdkTypesFile(), "utf8");
const nothingMissing = { unmapped: [], outdated: [] };

test("maps every option of the installed Agent SDK", () => {
  const options = listTypeKeys(types, "Options");
  expect(options.length).toBeGreaterThan(60);
  expect(compareWithTable(options, sdkOptions)).toEqual(nothingMissing);
});

test("maps every key of Claude Code's settings", () => {
  const keys = listTypeKeys(types, "Settings");
  expect(keys.length).toBeGreaterThan(150);
  expect(compareWithTable(keys, settingsKeys)).toEqual(nothingMissing);
});

test("maps every flag of `claude --help`", () => {
  const flags = listHelpFlags(readClaudeHelp());
  expect(flags.length).toBeGreaterThan(50);
  expect(compareWithTable(flags, cliFlags).unmapped).toEqual([]);
});

test("lists a made-up option of a later version as unmapped", () => {
  const later = types
    .replace("export declare type Options = {", "$&\n    dreams?: { vivid?: boolean };")
    .replace("export declare interface Settings {", "$&\n    'moon-phase'?: string;");
  expect(compareWithTable(listTypeKeys(later, "Options"), sdkOptions).unmapped).toEqual(["dreams"]);
  expect(compareWithTable(listTypeKeys(later, "Settings"), settingsKeys).unmapped).toEqual([
    "moon-phase",
  ]);
  const help =
    "  --dream <depth>  Dream\n      --not-a-flag in a description\n  -d, --debug [filter]";
  expect(compareWithTable(listHelpFlags(help), cliFlags).unmapped).toEqual(["dream"]);
});

test("names only keys that an agent has", () => {
  const keys = Object.values(claudeCoverage).flatMap((table) => exposedKeys(table));
  const unknown = keys.filter((key) => !(key.split(".")[0] ?? "") || !isAgentKey(key));
  expect(unknown).toEqual([]);
});

/** Options that other tests run on every runtime: `test/runtimes/runtime-conformance.ts`. */
const testedElsewhere = [
  ...["allowed_tools", "denied_tools", "env", "fallback_model", "max_budget_usd", "max_turns"],
  ...["permission_mode", "prompts", "setting_sources", "working_directory"],
  ...["settings", "claude_hooks", "policy", "sandbox", "file_checkpointing", "schedules"],
];

test("runs every option on the real program", () => {
  const tested = new Set([
    ...testedElsewhere,
    ...optionGroups.flatMap(({ cases }) => cases.map(({ key }) => key)),
  ]);
  const keys = new Set(Object.values(claudeCoverage).flatMap((table) => exposedKeys(table)));
  expect([...keys].filter((key) => !tested.has(key))).toEqual([]);
});

function exposedKeys(table: Readonly<Record<string, Coverage>>): string[] {
  return Object.values(table).flatMap((how) => ("exposed" in how ? [how.exposed] : []));
}

function isAgentKey(key: string): boolean {
  return Object.hasOwn(agentSchema.shape, key.split(".")[0] ?? "");
}
