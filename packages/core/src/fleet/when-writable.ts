import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import type { FleetContext } from "./context.ts";

const tryEvery = 1_000;

/** What must be recorded is tried until it can be: a full disk holds it up and does not lose it. */
export async function whenWritable<T>(context: FleetContext, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const result = await write();
      context.writable(undefined);
      return result;
    } catch (error) {
      const obstacle = obstacleOf(error);
      if (obstacle === undefined) throw error;
      context.writable(obstacle);
      await delay(tryEvery);
    }
  }
}

/** What a disk says that may take writes again later. */
const refusals = new Set<unknown>(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);

/** Of the database, or of a file of the job's own. */
function obstacleOf(error: unknown): string | undefined {
  if (error instanceof UserError)
    return error.code === "state_unavailable" ? error.message : undefined;
  const isRefused = error instanceof Error && "code" in error && refusals.has(error.code);
  return isRefused ? `the job's files cannot be written: ${error.message}` : undefined;
}
