import type { Problem } from "@herdctl/protocol";

/** The entry of a fleet file that would have to allow something. */
export interface GrantEntry {
  fleetFile: string;
  list: "agents" | "fleets";
  /** The path as the entry writes it. */
  path: string;
}

/** The cause of a problem, for programs that act on it. People read its message and hint. */
export type ProblemCause =
  | { kind: "unknown_key" }
  | { kind: "prompt_missing" }
  | { kind: "variable_not_set"; name: string }
  | { kind: "mount_refused"; agent: string }
  /** `content` is to be added to the entry of each grant. */
  | { kind: "not_granted"; grants: readonly GrantEntry[]; content: object };

const causes = new WeakMap<Problem, ProblemCause>();

export function withCause(problem: Problem, cause: ProblemCause): Problem {
  causes.set(problem, cause);
  return problem;
}

export function causeOf(problem: Problem): ProblemCause | undefined {
  return causes.get(problem);
}
