import { z } from "zod";
import type { HandOutDecider, HandOutDecision } from "../hand-out.ts";
import {
  readNodes,
  setting as readSetting,
  setSetting as writeSetting,
} from "../postgres/node-store.ts";
import { readHomes } from "./homes.ts";
import type { JobRecords } from "./job-records.ts";
import { readLiveJobs } from "./live-jobs.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { Steps } from "./steps.ts";

/** Decides on the state as it is within this transaction. Homes are read for those that may start. */
export function* handOut(
  database: SqlDatabase,
  records: JobRecords,
  decide: HandOutDecider,
  how: "look" | "write",
  now: Date,
): Steps<HandOutDecision> {
  const [live, nodes] = [yield* readLiveJobs(database), yield* readNodes()];
  const servedAt = yield* readServed();
  const homes = new Map<string, string | null>();
  for (;;) {
    const decision = decide({ live, nodes, homes, servedAt });
    if (decision.unknown.length === 0) {
      if (how === "write") yield* putDown(records, decision);
      const agents = decision.assign.map(({ id }) => live.find((job) => job.id === id)?.agent);
      if (how === "write" && agents.length > 0) yield* writeServed(servedAt, agents);
      return decision;
    }
    const found = yield* readHomes(database, records, decision.unknown, now);
    for (const [id, home] of found) homes.set(id, home);
  }
}

function* putDown(records: JobRecords, { assign, giveBack, notes }: HandOutDecision): Steps<void> {
  for (const id of giveBack) yield* records.change(yield* records.expect(id), { assigned: null });
  for (const { id, assigned, warnings } of assign) {
    const job = yield* records.expect(id);
    const all = [...new Set([...job.warnings, ...warnings])];
    yield* records.change(job, { assigned, warnings: all });
  }
  for (const { id, warning } of notes) {
    const job = yield* records.expect(id);
    const isNew = !job.warnings.includes(warning);
    if (isNew) yield* records.change(job, { warnings: [...job.warnings, warning] });
  }
}

const servedSchema = z.record(z.string(), z.number());

/** Kept for all nodes: a short job may be over before another node looks. */
function* readServed(): Steps<Map<string, number>> {
  const text = yield* readSetting("served");
  return new Map(text === undefined ? [] : Object.entries(servedSchema.parse(JSON.parse(text))));
}

function* writeServed(
  before: ReadonlyMap<string, number>,
  agents: readonly (string | undefined)[],
): Steps<void> {
  const served = new Map(before);
  let turn = Math.max(0, ...served.values());
  for (const agent of agents) if (agent !== undefined) served.set(agent, ++turn);
  yield* writeSetting("served", JSON.stringify(Object.fromEntries(served)));
}
