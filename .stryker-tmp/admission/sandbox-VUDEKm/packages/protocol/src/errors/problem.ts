import type { ErrorCode } from "./error-table.ts";
import { UserError } from "./user-error.ts";

/** The position of a value in a file; line and column count from 1. */
export interface SourcePosition {
  file: string;
  line: number;
  column: number;
}

/** One problem in a document: its position, message and hint. */
export interface Problem extends SourcePosition {
  path: string;
  message: string;
  hint: string;
}

/** All problems of one or more documents, reported together. */
export class ProblemsError extends UserError {
  override readonly name = "ProblemsError";
  readonly problems: Problem[];

  constructor(code: ErrorCode, problems: Problem[]) {
    super(code, problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}

export function formatProblem(problem: Problem): string {
  const position = `${problem.file}:${problem.line}:${problem.column}`;
  const subject = problem.path === "" ? "" : `${problem.path}: `;
  return `${position}  ${subject}${problem.message}\n    ${problem.hint}`;
}

/** `["schedules", "nightly", 0]` becomes `schedules.nightly[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

export function comparePositions(a: Problem, b: Problem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
}
