import {
  type ErrorCode,
  errorTable,
  type Problem,
  ProblemsError,
  UserError,
} from "@herdctl/core/light";
import type { Failure } from "../contract/errors.ts";

type Told = Failure["errors"][number];

/** The error that the fleet met, as if it had been met here. */
export function failureOf(status: number, text: string): Error {
  const errors = parse(text);
  const code = errors[0]?.code ?? "";
  const message = errors.map(sentence).join("\n") || text;
  const isKnown = (name: string): name is ErrorCode => Object.hasOwn(errorTable, name);
  if (!isKnown(code)) return new Error(`the fleet answered ${status}: ${message}`);
  const problems = errors.filter(isProblem);
  if (problems.length > 0) return new ProblemsError(code, problems.map(withoutCode));
  return new UserError(code, message, { hint: errors[0]?.hint });
}

export function unreachable(message: string, cause?: unknown): Error {
  return new UserError("fleet_unreachable", message, { cause });
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function parse(text: string): Told[] {
  try {
    const { errors }: Failure = JSON.parse(text);
    return errors;
  } catch {
    return [];
  }
}

function isProblem(told: Told): told is Told & Problem {
  return told.file !== undefined;
}

function withoutCode({ code: _, ...problem }: Told & Problem): Problem {
  return problem;
}

function sentence({ path, message }: Told): string {
  return path === undefined ? message : `${path}: ${message}`;
}
