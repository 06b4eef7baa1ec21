import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { ClaudeHandle } from "./claude-handle.ts";
import { assertSettingsApplied } from "./claude-settings.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

const rejectionSchema = z.object({ error: z.string() });

/** Call before the first prompt. Throws if Claude Code did not accept all options of the run. */
export async function confirmStart(
  claude: Pick<ClaudeHandle, "settings" | "readInitialization" | "readSettings">,
  options: Pick<ExecuteOptions, "observer">,
): Promise<void> {
  await Promise.all([
    assertInitialized(claude),
    assertSettingsApplied(claude, claude.settings, options),
  ]);
}

async function assertInitialized(claude: Pick<ClaudeHandle, "readInitialization">): Promise<void> {
  const rejection = rejectionSchema.safeParse(await claude.readInitialization());
  if (rejection.success) throw optionsRejectedError(rejection.data.error);
}

function optionsRejectedError(reason: string): UserError {
  return new UserError("options_rejected", `Claude Code rejected the agent's options: ${reason}`, {
    hint: "Correct the options, or update Claude Code if it is too old to support them.",
  });
}
