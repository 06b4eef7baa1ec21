import { isDeepStrictEqual } from "node:util";
import type { ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import { hookEvents } from "./hook-events.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

const ruleListSchema = z.array(z.string()).optional();
const secondsSchema = z.number().positive().optional();
const onFailure = z.enum(["continue", "block"]).optional();

const hookSchema = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("command"),
    command: z.string(),
    timeout: secondsSchema,
    onFailure,
  }),
  z.looseObject({ type: z.literal("http"), url: z.url(), timeout: secondsSchema, onFailure }),
  z.looseObject({ type: z.literal("prompt"), prompt: z.string(), timeout: secondsSchema }),
  z.looseObject({ type: z.literal("agent"), prompt: z.string(), timeout: secondsSchema }),
  z.looseObject({ type: z.literal("mcp_tool"), server: z.string(), tool: z.string() }),
]);
const hookMatcherSchema = z.looseObject({
  matcher: z.string().optional(),
  hooks: z.array(hookSchema),
});

/**
 * The Claude Code settings that herdctl and its users depend on. A single value of a wrong type makes
 * Claude Code silently drop the whole object, so it is validated before the start.
 */
const claudeSettingsSchema = z.looseObject({
  cleanupPeriodDays: z.int().positive().optional(),
  env: z.record(z.string(), z.string()).optional(),
  permissions: z
    .looseObject({
      allow: ruleListSchema,
      deny: ruleListSchema,
      ask: ruleListSchema,
      additionalDirectories: ruleListSchema,
      defaultMode: z
        .enum(["default", "acceptEdits", "auto", "bypassPermissions", "plan", "dontAsk"])
        .optional(),
    })
    .optional(),
  hooks: z.partialRecord(z.enum(hookEvents), z.array(hookMatcherSchema)).optional(),
  disableAllHooks: z.boolean().optional(),
  model: z.string().optional(),
  outputStyle: z.string().optional(),
  apiKeyHelper: z.string().optional(),
  sandbox: z.looseObject({}).optional(),
});
export type ClaudeSettings = z.output<typeof claudeSettingsSchema>;

/** By default, Claude Code deletes transcripts after 30 days; keep them so that they can be resumed. */
const transcriptRetentionDays = 36_500;

/** Set by herdctl. Otherwise `env` in a user's settings would override the process environment. */
const herdctlVariables = [
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDE_CODE_DISABLE_CRON",
  "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
];

/**
 * The settings object passed to every run with `--settings`. `optionVariables` are variables of the
 * environment that options of the agent set.
 */
export function buildSettings(
  { env, settings = {} }: Pick<ExecuteOptions, "env" | "settings">,
  optionVariables: readonly string[] = [],
): ClaudeSettings {
  const guardedEntries = [...herdctlVariables, ...optionVariables].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const herdctlSettings = {
    cleanupPeriodDays: transcriptRetentionDays,
    env: Object.fromEntries(guardedEntries),
  };
  return mergeSettings(parseSettings(settings), herdctlSettings);
}

/** Concatenates lists and merges objects; herdctl's settings win. A hook that cannot run blocks. */
function mergeSettings(
  userSettings: ClaudeSettings,
  herdctlSettings: ClaudeSettings,
): ClaudeSettings {
  const hooks =
    userSettings.hooks &&
    Object.entries(userSettings.hooks).map(([event, matchers]) => [
      event,
      withBlockingHooks(matchers),
    ]);
  const withHooks = hooks ? { ...userSettings, hooks: Object.fromEntries(hooks) } : userSettings;
  return claudeSettingsSchema.parse(mergeValues(withHooks, herdctlSettings));
}

function parseSettings(settings: unknown): ClaudeSettings {
  const { data, error } = claudeSettingsSchema.safeParse(settings);
  if (data) return data;
  const problems = error.issues.map(({ path, message }) => `\`${path.join(".")}\`: ${message}`);
  throw new UserError("settings_rejected", `invalid Claude Code settings: ${problems.join("; ")}`, {
    hint: "Correct them. Otherwise Claude Code would silently drop all of them.",
  });
}

type HookMatchers = z.output<typeof hookMatcherSchema>[];

/** By default, Claude Code ignores a hook whose program is missing and runs the tool. */
function withBlockingHooks(matchers: HookMatchers = []): HookMatchers {
  return matchers.map((matcher) => ({
    ...matcher,
    hooks: matcher.hooks.map((hook) =>
      hook.type === "command" || hook.type === "http" ? { onFailure: "block", ...hook } : hook,
    ),
  }));
}

function mergeValues(base: unknown, override: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(override)) return [...base, ...override];
  if (!isObject(base) || !isObject(override)) return override === undefined ? base : override;
  const keys = new Set([...Object.keys(base), ...Object.keys(override)]);
  return Object.fromEntries([...keys].map((key) => [key, mergeValues(base[key], override[key])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tools that change nothing. A rule such as `Read(docs/**)` names the tool before its parenthesis. */
const readOnlyTools = new Set([
  ...["Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch"],
  ...["Task", "Agent", "TodoWrite", "AskUserQuestion", "ExitPlanMode"],
]);

/** In plan mode, a rule must not let a tool change anything. herdctl's own tools stay available. */
export function buildAllowedTools({
  allowed_tools,
  permission_mode,
}: Pick<ResolvedAgent, "allowed_tools" | "permission_mode">): readonly string[] {
  if (permission_mode !== "plan") return allowed_tools;
  return allowed_tools.filter(
    (rule) => readOnlyTools.has(rule.replace(/\(.*$/s, "")) || rule.startsWith("mcp__herd__"),
  );
}

/** Tools with which a session can start further turns by itself later. */
const wakeupTools = ["CronCreate", "CronDelete", "CronList", "ScheduleWakeup"];

/** An unattended session may only wake itself up if its configuration allows it. */
export function buildDeniedTools({
  denied_tools,
  self_wakeup,
}: Pick<ResolvedAgent, "denied_tools" | "self_wakeup">): string[] {
  return [...denied_tools, .../* defence: no-self-wakeup */ (self_wakeup ? [] : wakeupTools)];
}

/** The response of Claude Code to the control request `get_settings`. */
const settingsReportSchema = z.object({
  sources: z.array(z.object({ source: z.string(), settings: z.record(z.string(), z.unknown()) })),
  errors: z
    .array(z.object({ file: z.string(), path: z.string(), message: z.string() }))
    .default([]),
});
type SettingsReport = z.output<typeof settingsReportSchema>;

interface SettingsReader {
  /** Resolves with the response to `get_settings`; undefined if the program exits without one. */
  readSettings(): Promise<unknown>;
}

/**
 * Call before the first prompt. Claude Code silently drops settings that it cannot read, including
 * deny rules and hooks, so a run without all of its settings must not start.
 */
export async function assertSettingsApplied(
  claude: SettingsReader,
  settings: ClaudeSettings,
  { observer }: Pick<ExecuteOptions, "observer">,
): Promise<void> {
  const answer = await claude.readSettings();
  if (answer === undefined) return;
  const { data } = settingsReportSchema.safeParse(answer);
  if (!data) return observer?.onWarning?.(unconfirmedWarning);
  const applied = data.sources.find(({ source }) => source === "flagSettings")?.settings ?? {};
  const dropped = Object.keys(settings).filter((key) => !isApplied(applied[key], settings[key]));
  if (/* defence: dropped-settings */ dropped.length > 0)
    throw settingsRejectedError(dropped, data);
  for (const { file, path, message } of data.errors)
    observer?.onWarning?.(`Claude Code skipped the settings in ${file}: ${path}: ${message}`);
}

const unconfirmedWarning = "this version of Claude Code does not report the settings it applied";

function settingsRejectedError(dropped: readonly string[], { errors }: SettingsReport): UserError {
  const reasons = errors.map(({ path, message }) => ` (${path}: ${message})`).join("");
  const names = dropped.map((name) => `\`${name}\``).join(", ");
  return new UserError("settings_rejected", `Claude Code dropped the settings ${names}${reasons}`, {
    hint: "Correct these settings, or update Claude Code if it is too old to support them.",
  });
}

/** Claude Code omits empty objects and undefined values. */
function isApplied(applied: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(applied ?? {}, wanted ?? {});
}
