import { type ClaudeSettings, findSettingsProblems, toolsWithPolicy } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { ExecuteOptions } from "./runtime-interface.ts";
import { buildSandboxSettings } from "./sandbox-settings.ts";

/** By default, Claude Code deletes transcripts after 30 days; keep them so that they can be resumed. */
const transcriptRetentionDays = 36_500;

/** Set by herdctl. Otherwise `env` in a user's settings would override the process environment. */
const herdctlVariables = [
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDE_CODE_DISABLE_CRON",
  "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
];

type SettingsOptions = Pick<ExecuteOptions, "env" | "settings"> & {
  agent?: Pick<ExecuteOptions["agent"], "settings" | "claude_hooks" | "sandbox"> &
    Partial<Pick<ExecuteOptions["agent"], "mcp_servers">>;
};

/**
 * The settings object passed to every run with `--settings`: Claude Code reads only one.
 * `optionVariables` are variables of the environment that options of the agent set.
 */
export function buildSettings(
  { env, settings, agent = {} }: SettingsOptions,
  optionVariables: readonly string[] = [],
): ClaudeSettings {
  const guardedEntries = [...herdctlVariables, ...optionVariables].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const askRules = agent.mcp_servers
    ? toolsWithPolicy({ mcp_servers: agent.mcp_servers }, "ask")
    : [];
  const herdctlSettings = {
    cleanupPeriodDays: transcriptRetentionDays,
    env: Object.fromEntries(guardedEntries),
    ...(agent.sandbox && { sandbox: buildSandboxSettings(agent.sandbox) }),
    ...(askRules.length > 0 && { permissions: { ask: askRules } }),
  };
  const hooks = agent.claude_hooks && { hooks: agent.claude_hooks };
  const operatorSettings = [agent.settings, hooks, settings]
    .map((one) => validated(one, "settings"))
    .reduce(mergeSettings, {});
  return mergeSettings(withBlockingHooks(operatorSettings), herdctlSettings);
}

/** The settings passed with `--managed-settings`, which bind every other source. */
export function buildPolicy({ policy }: Pick<ExecuteOptions["agent"], "policy">) {
  return policy === undefined ? undefined : validated(policy, "policy");
}

/** A configuration that was loaded from files has been checked before; a program can pass anything. */
function validated(settings: unknown, kind: "settings" | "policy"): ClaudeSettings {
  if (settings === undefined) return {};
  const problems = /* defence: owned-settings */ findSettingsProblems(settings, kind);
  if (problems.length === 0 && isObject(settings)) return settings;
  throw new UserError("settings_rejected", `invalid Claude Code settings: ${problems.join("; ")}`, {
    hint: "Correct them. Otherwise Claude Code would silently drop all of them.",
  });
}

/** By default, Claude Code ignores a hook whose program is missing and runs the tool. */
function withBlockingHooks(settings: ClaudeSettings): ClaudeSettings {
  if (!isObject(settings.hooks)) return settings;
  const hooks = Object.entries(settings.hooks).map(([event, matchers]) => [
    event,
    listOf(matchers).map((matcher) => ({
      ...matcher,
      hooks: listOf(matcher.hooks).map((hook) =>
        hook.type === "command" || hook.type === "http"
          ? /* defence: hooks-fail-closed */ { onFailure: "block", ...hook }
          : hook,
      ),
    })),
  ]);
  return { ...settings, hooks: Object.fromEntries(hooks) };
}

function listOf(value: unknown): ClaudeSettings[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Concatenates lists and merges objects; values of the second win. */
function mergeSettings(base: ClaudeSettings, override: ClaudeSettings): ClaudeSettings {
  const keys = new Set([...Object.keys(base), ...Object.keys(override)]);
  return Object.fromEntries([...keys].map((key) => [key, mergeValues(base[key], override[key])]));
}

function mergeValues(base: unknown, override: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(override)) return [...base, ...override];
  if (!isObject(base) || !isObject(override)) return override === undefined ? base : override;
  return mergeSettings(base, override);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
