import type { Node, NodeAssignment, SessionHomeKind, UnfinishedJob } from "@herdctl/protocol";

/* The facts and the results of assigning jobs to nodes that share a store. */

/** Called within the transaction, again while it has affinity queries, so it must be pure. */
export type AssignmentDecider = (facts: AssignmentSnapshot) => AssignmentDecision;

export interface AssignmentSnapshot {
  liveJobs: readonly UnfinishedJob[];
  /** All nodes, including those that are gone. */
  nodes: readonly Node[];
  /**
   * Job id → node that holds the session the job will resume; `null` if it starts a new session.
   */
  affinityNodes: ReadonlyMap<string, string | null>;
  /** Agent → number of its last assignment, which grows; absent means never. */
  lastAssigned: ReadonlyMap<string, number>;
}

export interface AssignmentDecision {
  assign: NewAssignment[];
  /** Assignments that will not be started. */
  unassign: string[];
  waitWarnings: WaitWarning[];
  /** Affinities that it needs before it can decide; while there are any, the rest is ignored. */
  affinityQueries: AffinityQuery[];
}

export interface NewAssignment {
  id: string;
  assigned: NodeAssignment;
  warnings: string[];
}

/** Why a job is not assigned, for its record. */
export interface WaitWarning {
  id: string;
  warning: string;
}

export interface AffinityQuery {
  /** Id of the job. */
  id: string;
  /** For a job that resumes the last session by default: where to look for that session. */
  latestSession: { sessionHome: SessionHomeKind; ownerSchedule: string | null } | null;
}
