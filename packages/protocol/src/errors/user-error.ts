import { type ErrorCode, type ErrorDefinition, errorTable } from "./error-table.ts";

/**
 * An error that a user can fix, printed as a message and a hint without a stack trace. Every other
 * error that reaches the top level is a bug in herdctl.
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

  /** The hint for clients of the API. */
  get apiHint(): string {
    const definition: ErrorDefinition = errorTable[this.code];
    return this.hint === definition.hint ? (definition.apiHint ?? this.hint) : this.hint;
  }

  /** HTTP status of the control API. */
  get status(): number {
    return errorTable[this.code].status;
  }
}
