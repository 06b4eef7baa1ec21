import { type ErrorCode, errorTable } from "../errors/error-table.ts";
import { type Problem, ProblemsError } from "../errors/problem.ts";
import { UserError } from "../errors/user-error.ts";

/** The body of every error response. Internal errors have the code `bug`. */
export interface ErrorBody {
  errors: ErrorItem[];
}

interface ErrorItem {
  code: string;
  message: string;
  hint: string;
  /** The invalid part of the request or file. */
  path?: string;
  file?: string;
  line?: number;
  column?: number;
}

/** Restores the fleet's error as a local error. */
export function errorFromResponse(status: number, text: string): Error {
  const errors = parseErrors(text);
  const code = errors[0]?.code ?? "";
  const message = errors.map(formatMessage).join("\n") || text;
  const isKnown = (name: string): name is ErrorCode => Object.hasOwn(errorTable, name);
  if (!isKnown(code)) return new Error(`the fleet responded with status ${status}: ${message}`);
  const problems = errors.filter(isProblem);
  if (problems.length > 0) return new ProblemsError(code, problems.map(withoutCode));
  const hint = errors[0]?.hint;
  const error = new UserError(code, message);
  // Callers of this client get the usual hint instead of the one for plain HTTP.
  return hint === error.apiHint ? error : new UserError(code, message, { hint });
}

export function unreachableError(message: string, cause?: unknown): Error {
  return new UserError("fleet_unreachable", message, { cause });
}

function parseErrors(text: string): ErrorItem[] {
  try {
    const { errors }: ErrorBody = JSON.parse(text);
    return errors;
  } catch {
    return [];
  }
}

function isProblem(item: ErrorItem): item is ErrorItem & Problem {
  return item.file !== undefined;
}

function withoutCode({ code: _, ...problem }: ErrorItem & Problem): Problem {
  return problem;
}

function formatMessage({ path, message }: ErrorItem): string {
  return path === undefined ? message : `${path}: ${message}`;
}
