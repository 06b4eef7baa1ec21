import { type ErrorCode, errorTable } from "./table.ts";

/**
 * Something a person can fix. It prints as a message and a hint, never as a stack trace;
 * every other error that reaches the top is a bug of ours and prints as one.
 */
export class UserError extends Error {
  override readonly name: string = "UserError";
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? errorTable[code].hint;
  }

  get exitCode(): number {
    return errorTable[this.code].exitCode;
  }

  /** How the control API answers. */
  get status(): number {
    return errorTable[this.code].status;
  }
}
