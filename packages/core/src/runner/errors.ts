import type { Outcome } from "../state/outcome.ts";

/** A run that did not succeed. */
export class RunnerError extends Error {
  override readonly name: string = "RunnerError";

  constructor(
    message: string,
    readonly jobId: string,
    readonly outcome?: Outcome,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** A run that Claude Code or the API ended; the outcome's code tells which way. */
export class SDKError extends RunnerError {
  override readonly name = "SDKError";
}
