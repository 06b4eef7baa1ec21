import type { ErrorCode } from "../errors/table.ts";
import { UserError } from "../errors/user-error.ts";
import type { OutcomeCode } from "../state/outcome.ts";
import type { Evidence } from "./evidence.ts";

/** What kept a run from starting, or from being kept on record; throws what is neither. */
export function refusalOf(error: unknown): NonNullable<Evidence["refused"]> {
  if (error instanceof UserError) {
    const code = refusals[error.code] ?? "config_error";
    return { code, message: error.message, hint: error.hint };
  }
  if (isDiskFull(error))
    return { code: "disk_full", message: "The disk is full: the job's log could not be written." };
  throw error;
}

/** By what was said of it; all else is the configuration. */
const refusals: Partial<Record<ErrorCode, OutcomeCode>> = {
  sdk_missing: "runtime_missing",
  settings_rejected: "config_error",
  docker_unavailable: "docker_unavailable",
  image_missing: "image_missing",
  disk_full: "disk_full",
  workspace_unusable: "workspace_missing",
};

function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOSPC" || error.code === "EDQUOT")
  );
}
