import { randomBytes } from "node:crypto";
import { type NewOneShot, type OneShot, oneShotSchema } from "../one-shot.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, run, type Steps } from "./steps.ts";

export function* readOneShots(database: SqlDatabase): Steps<OneShot[]> {
  const rows = yield* all("SELECT schedule AS id, record FROM one_shots ORDER BY schedule");
  return rows
    .map((row) => readRecord(database, oneShotSchema, row))
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

export function* planOnce(database: SqlDatabase, given: NewOneShot, now: Date): Steps<OneShot> {
  const known = "SELECT schedule AS id, record FROM one_shots WHERE key = ?";
  const first = yield* one(known, given.key);
  if (first) return readRecord(database, oneShotSchema, first);
  const schedule = `once-${randomBytes(4).toString("hex")}`;
  const oneShot = oneShotSchema.parse({ ...given, schedule, planned_at: now.toISOString() });
  yield* run(
    "INSERT INTO one_shots (agent, schedule, record, key) VALUES (?, ?, ?, ?)",
    oneShot.agent,
    schedule,
    JSON.stringify(oneShot),
    oneShot.key,
  );
  return oneShot;
}
