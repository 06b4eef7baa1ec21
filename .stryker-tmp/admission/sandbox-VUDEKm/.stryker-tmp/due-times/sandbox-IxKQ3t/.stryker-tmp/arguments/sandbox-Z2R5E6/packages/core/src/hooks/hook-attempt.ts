import type { Environment } from "@herdctl/config";
import type { HookRun } from "@herdctl/protocol";
import type { HookContext } from "./hook-context.ts";

/** The input of one attempt, for hooks of any type. */
export interface HookAttempt {
  run: HookRun;
  context: HookContext;
  environment: Environment;
  /** The folder of the fleet file. */
  workingDirectory: string;
  /** Its reason is the message why the hook was aborted. */
  signal: AbortSignal;
}

/** The result of one attempt of a hook. */
export type HookResult =
  | { ok: true; message: string; output: string }
  | {
      ok: false;
      message: string;
      output: string;
      /** False if another attempt would fail in the same way. */
      isTransient: boolean;
      /** The delay that the receiver asked for, in milliseconds. */
      retryAfterMs?: number;
    };

export function succeeded(message: string, output = ""): HookResult {
  return { ok: true, message, output };
}

export function failed(
  message: string,
  details: { output?: string; isTransient?: boolean; retryAfterMs?: number } = {},
): HookResult {
  return { ok: false, message, output: "", isTransient: true, ...details };
}
