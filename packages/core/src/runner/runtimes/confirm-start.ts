import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import { assertSettingsApplied, type RequestedSettings } from "./applied-settings.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

interface StartingClaude extends RequestedSettings {
  /** The response to `initialize`, or `{ error }`; undefined if the program exits without one. */
  readInitialization(): Promise<unknown>;
}

const rejectionSchema = z.object({ error: z.string() });

/** Call before the first prompt. Throws if Claude Code did not accept all options of the run. */
export async function confirmStart(
  claude: StartingClaude,
  options: Pick<ExecuteOptions, "observer">,
): Promise<void> {
  await Promise.all([assertInitialized(claude), assertSettingsApplied(claude, options)]);
}

async function assertInitialized(claude: StartingClaude): Promise<void> {
  const rejection = rejectionSchema.safeParse(await claude.readInitialization());
  if (rejection.success) throw optionsRejectedError(rejection.data.error);
}

function optionsRejectedError(reason: string): UserError {
  return new UserError("options_rejected", `Claude Code rejected the agent's options: ${reason}`, {
    hint: "Correct the options, or update Claude Code if it is too old to support them.",
  });
}
