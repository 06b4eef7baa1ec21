import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import type { ClaudeSettings } from "./claude-settings.ts";
import type { ExecuteOptions } from "./interface.ts";

/** What Claude Code answers to the control request `get_settings`. */
const report = z.object({
  sources: z.array(z.object({ source: z.string(), settings: z.record(z.string(), z.unknown()) })),
  errors: z
    .array(z.object({ file: z.string(), path: z.string(), message: z.string() }))
    .default([]),
});
type Report = z.output<typeof report>;

interface SettingsReader {
  /** Resolves with the answer to `get_settings`; undefined when the program ends without one. */
  readSettings(): Promise<unknown>;
}

/**
 * Before the first prompt: Claude Code drops what it cannot read of the settings without an error,
 * and its deny rules and hooks with it. A run that does not have all of them is not begun.
 */
export async function confirmSettings(
  claude: SettingsReader,
  settings: ClaudeSettings,
  { observer }: Pick<ExecuteOptions, "observer">,
): Promise<void> {
  const answer = await claude.readSettings();
  if (answer === undefined) return;
  const { data } = report.safeParse(answer);
  if (!data) return observer?.warning?.(unconfirmed);
  const applied = data.sources.find(({ source }) => source === "flagSettings")?.settings ?? {};
  const dropped = Object.keys(settings).filter((key) => !holds(applied[key], settings[key]));
  if (dropped.length > 0) throw rejected(dropped, data);
  for (const { file, path, message } of data.errors)
    observer?.warning?.(`Claude Code skipped the settings in ${file}: ${path}: ${message}`);
}

const unconfirmed = "this version of Claude Code does not say which settings it applied";

function rejected(dropped: readonly string[], { errors }: Report): UserError {
  const reasons = errors.map(({ path, message }) => ` (${path}: ${message})`).join("");
  const names = dropped.map((name) => `\`${name}\``).join(", ");
  return new UserError("settings_rejected", `Claude Code dropped the settings ${names}${reasons}`, {
    hint: "Correct these settings, or update Claude Code if it is too old to know them.",
  });
}

/** Claude Code leaves out empty objects and what is undefined. */
function holds(applied: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(applied ?? {}, wanted ?? {});
}
