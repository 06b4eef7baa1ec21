import type { Assignment, LiveJob, Place } from "./job.ts";
import type { Node } from "./node.ts";

/*
 * How jobs are given to nodes that share a store: what is known when it is decided, and what can be
 * decided.
 */

/** Called within the transaction, again as long as it wants to know homes: it must be pure. */
export type HandOutDecider = (facts: HandOutFacts) => HandOutDecision;

export interface HandOutFacts {
  live: readonly LiveJob[];
  /** Also those that are gone. */
  nodes: readonly Node[];
  /** By job: the node where that lies which it goes on with; null where it goes on with nothing. */
  homes: ReadonlyMap<string, string | null>;
  /** By agent: when it was last given a job, in numbers that grow; absent means never. */
  servedAt: ReadonlyMap<string, number>;
}

export interface HandOutDecision {
  assign: NewAssignment[];
  /** Assignments that nobody will begin. */
  giveBack: string[];
  notes: WaitNote[];
  /** What it has to know before it can decide; nothing of the rest is done while there is any. */
  unknown: HomeWish[];
}

export interface NewAssignment {
  id: string;
  assigned: Assignment;
  warnings: string[];
}

/** Why a job stays where it is, for its record. */
export interface WaitNote {
  id: string;
  warning: string;
}

export interface HomeWish {
  /** Of the job. */
  id: string;
  /** Where it goes on in the last session by itself: among which that one is found. */
  latest: { place: Place; ownOf: string | null } | null;
}
