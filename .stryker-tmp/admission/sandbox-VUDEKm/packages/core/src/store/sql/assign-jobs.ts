import { z } from "zod";
import type { AssignmentDecider, AssignmentDecision } from "../model/assignment.ts";
import type { JobRecords } from "./job-records.ts";
import { readLiveJobs } from "./live-jobs.ts";
import { readNodes, readSetting, writeSetting } from "./nodes.ts";
import { readSessionAffinity } from "./session-affinity.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { SqlProgram } from "./sql-program.ts";

/**
 * Decides on the current state of this transaction. Affinities are read only for jobs that may
 * start.
 */
export function* assignJobs(
  database: SqlDatabase,
  records: JobRecords,
  decide: AssignmentDecider,
  mode: "look" | "write",
  now: Date,
): SqlProgram<AssignmentDecision> {
  const [liveJobs, nodes] = [yield* readLiveJobs(database), yield* readNodes()];
  const lastAssigned = yield* readLastAssigned();
  const affinityNodes = new Map<string, string | null>();
  for (;;) {
    const decision = decide({ liveJobs, nodes, affinityNodes, lastAssigned });
    if (decision.affinityQueries.length === 0) {
      if (mode === "write") yield* writeAssignments(records, decision);
      const agents = decision.assign.map(({ id }) => liveJobs.find((job) => job.id === id)?.agent);
      if (mode === "write" && agents.length > 0) yield* writeLastAssigned(lastAssigned, agents);
      return decision;
    }
    const found = yield* readSessionAffinity(database, records, decision.affinityQueries, now);
    for (const [id, affinityNode] of found) affinityNodes.set(id, affinityNode);
  }
}

function* writeAssignments(
  records: JobRecords,
  { assign, unassign, waitWarnings }: AssignmentDecision,
): SqlProgram<void> {
  for (const id of unassign)
    yield* records.change(yield* records.getOrThrow(id), { assigned: null });
  for (const { id, assigned, warnings } of assign) {
    const job = yield* records.getOrThrow(id);
    const allWarnings = [...new Set([...job.warnings, ...warnings])];
    yield* records.change(job, { assigned, warnings: allWarnings });
  }
  for (const { id, warning } of waitWarnings) {
    const job = yield* records.getOrThrow(id);
    const isNew = !job.warnings.includes(warning);
    if (isNew) yield* records.change(job, { warnings: [...job.warnings, warning] });
  }
}

const lastAssignedSchema = z.record(z.string(), z.number());

/** Stored for all nodes, because a short job may end before another node looks. */
function* readLastAssigned(): SqlProgram<Map<string, number>> {
  const text = yield* readSetting("served");
  return new Map(
    text === undefined ? [] : Object.entries(lastAssignedSchema.parse(JSON.parse(text))),
  );
}

function* writeLastAssigned(
  previous: ReadonlyMap<string, number>,
  agents: readonly (string | undefined)[],
): SqlProgram<void> {
  const updated = new Map(previous);
  let sequence = Math.max(0, ...updated.values());
  for (const agent of agents) if (agent !== undefined) updated.set(agent, ++sequence);
  yield* writeSetting("served", JSON.stringify(Object.fromEntries(updated)));
}
