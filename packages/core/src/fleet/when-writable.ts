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
      if (!(error instanceof UserError) || error.code !== "state_unavailable") throw error;
      context.writable(error.message);
      await delay(tryEvery);
    }
  }
}
