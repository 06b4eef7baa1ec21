import { isDeepStrictEqual } from "node:util";
import type { ClaudeSettings } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { ExecuteOptions } from "./runtime-interface.ts";

/** The response of Claude Code to the control request `get_settings`. */
const settingsReportSchema = z.object({
  sources: z.array(z.object({ source: z.string(), settings: z.record(z.string(), z.unknown()) })),
  errors: z
    .array(z.object({ file: z.string(), path: z.string(), message: z.string() }))
    .default([]),
});
type SettingsReport = z.output<typeof settingsReportSchema>;

/** What `claude` was started with. */
export interface RequestedSettings {
  readonly settings: ClaudeSettings;
  readonly policy?: ClaudeSettings;
  /** Resolves with the response to `get_settings`; undefined if the program exits without one. */
  readSettings(): Promise<unknown>;
}

/**
 * Call before the first prompt. Claude Code silently drops settings that it cannot read, including
 * deny rules and hooks, so a run without all of its settings must not start.
 */
export async function assertSettingsApplied(
  claude: RequestedSettings,
  { observer }: Pick<ExecuteOptions, "observer">,
): Promise<void> {
  const answer = await claude.readSettings();
  if (answer === undefined) return;
  const { data } = settingsReportSchema.safeParse(answer);
  if (!data) {
    if (claude.policy) throw unconfirmedPolicy();
    return observer?.onWarning?.(unconfirmedWarning);
  }
  const dropped = [
    ...findDropped(claude.settings, appliedBy("flagSettings", data)),
    // defence: dropped-policy
    ...findDropped(boundPolicy(claude.policy), appliedBy("policySettings", data)).map(
      (key) => `policy.${key}`,
    ),
  ];
  if (/* defence: dropped-settings */ dropped.length > 0) throw settingsRejected(dropped, data);
  for (const { file, path, message } of data.errors)
    observer?.onWarning?.(`Claude Code skipped the settings in ${file}: ${path}: ${message}`);
}

function appliedBy(source: string, { sources }: SettingsReport): ClaudeSettings {
  return sources.find((one) => one.source === source)?.settings ?? {};
}

/** Claude Code omits empty objects and undefined values. */
function findDropped(wanted: ClaudeSettings, applied: ClaudeSettings): string[] {
  return Object.keys(wanted).filter(
    (key) => !isDeepStrictEqual(applied[key] ?? {}, wanted[key] ?? {}),
  );
}

/** Claude Code binds `disableAllHooks` of a policy in this form, so that an administrator's hooks run. */
function boundPolicy(policy: ClaudeSettings = {}): ClaudeSettings {
  const { disableAllHooks, ...rest } = policy;
  return disableAllHooks === true ? { ...rest, allowManagedHooksOnly: true } : rest;
}

const unconfirmedWarning = "this version of Claude Code does not report the settings it applied";

function unconfirmedPolicy(): UserError {
  const message = "this version of Claude Code does not report whether it applied `policy`";
  return new UserError("settings_rejected", message, { hint: "Update Claude Code." });
}

function settingsRejected(dropped: readonly string[], { errors }: SettingsReport): UserError {
  const reasons = errors.map(({ path, message }) => ` (${path}: ${message})`).join("");
  const names = dropped.map((name) => `\`${name}\``).join(", ");
  return new UserError("settings_rejected", `Claude Code dropped the settings ${names}${reasons}`, {
    hint: "Correct these settings, or update Claude Code if it is too old to support them. A policy can only restrict.",
  });
}
