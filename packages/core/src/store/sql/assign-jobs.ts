import type { Node } from "@herdctl/protocol";
import { nodeSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { AssignmentDecider, AssignmentDecision } from "../model/assignment.ts";
import { type JobRecords, readLiveJobs } from "./job-records.ts";
import { readSessionAffinity } from "./session-affinity.ts";
import {
  execute,
  queryRow,
  queryRows,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
} from "./sql-program.ts";

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

/**
 * The leader is the live node that joined first. Only `markLost` declares nodes lost, after their
 * lease has expired, so there are never two leaders.
 */
export function* readNodes(): SqlProgram<Node[]> {
  const sql = `SELECT id, name, role, labels, capacity, version, config_hash, address, epoch,
                 status, ${isoTimestampSql("joined_at")} AS joined_at, ${isoTimestampSql("heartbeat_at")} AS heartbeat_at,
                 running, clock_skew_ms, known_peers,
                 coalesce(id = (SELECT id FROM herdctl.nodes
                                WHERE status = 'live' AND role IN ('all', 'control')
                                ORDER BY joined_at, id LIMIT 1), false) AS leader
               FROM herdctl.nodes ORDER BY joined_at, id`;
  return (yield* queryRows(sql)).map(readNode);
}

export function* readSetting(name: string): SqlProgram<string | undefined> {
  const row = yield* queryRow("SELECT value FROM herdctl.settings WHERE name = ?", name);
  return row && String(row.value);
}

export function* writeSetting(name: string, value: string): SqlProgram<void> {
  const sql = `INSERT INTO herdctl.settings (name, value) VALUES (?, ?)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  yield* execute(sql, name, value);
}

function readNode(row: SqlRow): Node {
  const [labels, known_peers] = [row.labels, row.known_peers].map((text) =>
    JSON.parse(String(text)),
  );
  return nodeSchema.parse({ ...row, labels, known_peers, leader: Boolean(row.leader) });
}

/** The ISO format of all other times, independent of the driver. */
export function isoTimestampSql(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
