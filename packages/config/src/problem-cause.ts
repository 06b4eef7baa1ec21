import type { Problem } from "@herdctl/protocol";
import type { Grant } from "./trust/grant.ts";

/** What a program needs to act on a problem. People read its message and hint. */
export type ProblemCause =
  | { kind: "unknown_key" }
  | { kind: "prompt_missing" }
  | { kind: "variable_not_set"; name: string }
  | { kind: "mount_refused"; agent: string }
  /** `content` is to be added to the entry of each grant. */
  | { kind: "not_granted"; grants: readonly Grant[]; content: object };

const causes = new WeakMap<Problem, ProblemCause>();

export function withCause(problem: Problem, cause: ProblemCause): Problem {
  causes.set(problem, cause);
  return problem;
}

export function causeOf(problem: Problem): ProblemCause | undefined {
  return causes.get(problem);
}
