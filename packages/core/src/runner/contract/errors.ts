import type { Outcome } from "@herdctl/protocol";

/** A run that did not succeed. The outcome and the cause explain it. */
export class RunnerError extends Error {
  override readonly name: string = "RunnerError";
  declare readonly cause?: Error;
  /** How the job ended; undefined if there is no record of it. */
  outcome?: Outcome;

  constructor(
    message: string,
    readonly jobId: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause: toError(cause) });
  }
}

/** Claude Code or the API ended the run. The outcome's code is the reason. */
export class SDKError extends RunnerError {
  override readonly name = "SDKError";

  constructor(
    message: string,
    jobId: string,
    /** The message in which Claude Code reported the error, if it did. */
    readonly sdkMessage?: unknown,
    cause?: unknown,
  ) {
    super(message, jobId, cause);
  }
}

/** A function that the caller passed to a run threw. */
export class CallbackError extends Error {
  override readonly name = "CallbackError";
  declare readonly cause: Error;

  constructor(callback: string, cause: unknown) {
    const thrown = toError(cause);
    super(`The callback \`${callback}\` threw: ${thrown.message}`, { cause: thrown });
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
