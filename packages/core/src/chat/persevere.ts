import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import { ChatError } from "./connector.ts";

const firstPause = 500;
const longestPause = 30_000;

/** Tries until it is done, it can never be done, or nobody wants it any more. */
export async function persevere<T>(
  work: (attempt: number) => Promise<T>,
  signal: AbortSignal,
  isFinal: (error: unknown) => boolean = isRefused,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (isFinal(error) || signal.aborted) throw error;
      const pause = Math.min(firstPause * 2 ** attempt, longestPause);
      await delay(pause, undefined, { signal });
    }
  }
}

/** What must be on record is tried until it can be: a full disk holds it up and does not lose it. */
export function untilKept<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return persevere(work, signal, (error) => !isUnkept(error));
}

export function isUnkept(error: unknown): boolean {
  return error instanceof UserError && error.code === "state_unavailable";
}

function isRefused(error: unknown): boolean {
  return error instanceof ChatError && !error.mayPass;
}
