import type { ErrorCode } from "../errors/table.ts";
import { UserError } from "../errors/user-error.ts";

/** Where a value stands in a file a person wrote; line and column count from 1. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/** One thing wrong in a document: the place, what is wrong there, and the remedy. */
export interface Problem extends Place {
  path: string;
  message: string;
  hint: string;
}

/** Everything that is wrong with one or several documents, found in one go. */
export class ProblemsError extends UserError {
  override readonly name = "ProblemsError";
  readonly problems: Problem[];

  constructor(code: ErrorCode, problems: Problem[]) {
    super(code, problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}

export function formatProblem(problem: Problem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}`;
  const subject = problem.path === "" ? "" : `${problem.path}: `;
  return `${where}  ${subject}${problem.message}\n    ${problem.hint}`;
}

/** `["schedules", "nightly", 0]` as a person would write it: `schedules.nightly[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

export function byPlace(a: Problem, b: Problem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
}
