import { isDeepStrictEqual } from "node:util";
import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { ClaudeSettings } from "./claude-settings.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

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
