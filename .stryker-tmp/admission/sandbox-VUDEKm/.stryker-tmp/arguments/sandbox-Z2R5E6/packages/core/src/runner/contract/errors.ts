import type { Outcome } from "@herdctl/protocol";

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

/** Claude Code or the API ended the run. The outcome's code is the reason. */
export class SDKError extends RunnerError {
  override readonly name = "SDKError";
}
