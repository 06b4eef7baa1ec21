import { z } from "zod";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";
import { hookEvents } from "./hook-events.ts";
import type { ExecuteOptions } from "./interface.ts";

const rules = z.array(z.string()).optional();
const seconds = z.number().positive().optional();
const onFailure = z.enum(["continue", "block"]).optional();

const hook = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("command"), command: z.string(), timeout: seconds, onFailure }),
  z.looseObject({ type: z.literal("http"), url: z.url(), timeout: seconds, onFailure }),
  z.looseObject({ type: z.literal("prompt"), prompt: z.string(), timeout: seconds }),
  z.looseObject({ type: z.literal("agent"), prompt: z.string(), timeout: seconds }),
  z.looseObject({ type: z.literal("mcp_tool"), server: z.string(), tool: z.string() }),
]);
const hookMatcher = z.looseObject({ matcher: z.string().optional(), hooks: z.array(hook) });

/**
 * Settings of Claude Code, as far as herdctl and its users depend on them. One value of a wrong type
 * makes Claude Code drop the whole object without a word, so all of it is checked before the start.
 */
const claudeSettingsSchema = z.looseObject({
  cleanupPeriodDays: z.int().positive().optional(),
  env: z.record(z.string(), z.string()).optional(),
  permissions: z
    .looseObject({
      allow: rules,
      deny: rules,
      ask: rules,
      additionalDirectories: rules,
      defaultMode: z
        .enum(["default", "acceptEdits", "auto", "bypassPermissions", "plan", "dontAsk"])
        .optional(),
    })
    .optional(),
  hooks: z.partialRecord(z.enum(hookEvents), z.array(hookMatcher)).optional(),
  disableAllHooks: z.boolean().optional(),
  model: z.string().optional(),
  outputStyle: z.string().optional(),
  apiKeyHelper: z.string().optional(),
  sandbox: z.looseObject({}).optional(),
});
export type ClaudeSettings = z.output<typeof claudeSettingsSchema>;

/** Far beyond any session that a user may want to resume; Claude Code deletes after 30 days. */
const keepTranscriptsDays = 36_500;

/** Decided by herdctl. The `env` of a user's settings would beat the environment of the process. */
const guardedVariables = [
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDE_CODE_DISABLE_CRON",
  "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
];

/** What every run of Claude Code is told by `--settings`: always one object, given once. */
export function settingsOf({
  env,
  settings = {},
}: Pick<ExecuteOptions, "env" | "settings">): ClaudeSettings {
  const guarded = guardedVariables.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = { cleanupPeriodDays: keepTranscriptsDays, env: Object.fromEntries(guarded) };
  return mergeSettings(parseSettings(settings), own);
}

/** Lists are joined, objects merged key by key; `own` wins. A hook that cannot run blocks. */
function mergeSettings(given: ClaudeSettings, own: ClaudeSettings): ClaudeSettings {
  const hooks =
    given.hooks && Object.entries(given.hooks).map(([event, all]) => [event, blocking(all)]);
  const withHooks = hooks ? { ...given, hooks: Object.fromEntries(hooks) } : given;
  return claudeSettingsSchema.parse(merged(withHooks, own));
}

function parseSettings(given: unknown): ClaudeSettings {
  const { data, error } = claudeSettingsSchema.safeParse(given);
  if (data) return data;
  const wrong = error.issues.map(({ path, message }) => `\`${path.join(".")}\`: ${message}`);
  throw new UserError(
    "settings_rejected",
    `these Claude Code settings are wrong: ${wrong.join("; ")}`,
    {
      hint: "Correct them; Claude Code would drop all of them without an error.",
    },
  );
}

type Matchers = z.output<typeof hookMatcher>[];

/** By default Claude Code ignores a hook whose program is missing, and the tool runs. */
function blocking(matchers: Matchers = []): Matchers {
  return matchers.map((one) => ({
    ...one,
    hooks: one.hooks.map((each) =>
      each.type === "command" || each.type === "http" ? { onFailure: "block", ...each } : each,
    ),
  }));
}

function merged(low: unknown, high: unknown): unknown {
  if (Array.isArray(low) && Array.isArray(high)) return [...low, ...high];
  if (!isObject(low) || !isObject(high)) return high === undefined ? low : high;
  const keys = new Set([...Object.keys(low), ...Object.keys(high)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(low[key], high[key])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tools by which a session starts turns of its own later; nobody asked for these turns. */
const wakeupTools = ["CronCreate", "CronDelete", "CronList", "ScheduleWakeup"];

/** An unattended session does not wake itself up unless its configuration says so. */
export function deniedTools({
  denied_tools,
  self_wakeup,
}: Pick<ResolvedAgent, "denied_tools" | "self_wakeup">): string[] {
  return [...denied_tools, ...(self_wakeup ? [] : wakeupTools)];
}
