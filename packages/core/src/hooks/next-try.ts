import type { Hook } from "../config/schema/hooks.ts";
import type { HookEnd } from "../state/hook-run.ts";
import type { HookResult } from "./hook-result.ts";

const longestPause = 6 * 3_600_000;

/** What is recorded of an attempt: that it is over, or when to try again. */
export function nextTry(
  result: HookResult,
  attempts: number,
  retry: Hook["retry"],
  now: Date,
): HookEnd {
  const said = { message: result.message, output: result.output };
  if (result.ok) return { status: "succeeded", ...said };
  if (!result.mayPass || attempts >= retry.max_attempts) return { status: "failed", ...said };
  const pause = Math.max(retry.backoff * 4 ** (attempts - 1), result.retryAfter ?? 0);
  const due = now.getTime() + Math.min(pause, longestPause);
  return { status: "due", due_at: new Date(due).toISOString(), ...said };
}
