import type { Environment } from "../config/environment.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { HookContext } from "./context.ts";

/** What a hook of any type is given for one attempt. */
export interface HookAttempt {
  run: HookRun;
  context: HookContext;
  environment: Environment;
  /** The folder of the fleet file. */
  folder: string;
  /** Its reason says in words why the hook was cut off. */
  signal: AbortSignal;
}
