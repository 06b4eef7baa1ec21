import { randomBytes } from "node:crypto";
import { type NewOneShot, type OneShot, oneShotSchema } from "../one-shot.ts";
import type { Database } from "./database.ts";
import { readRecord } from "./record.ts";

export function readOneShots(database: Database): OneShot[] {
  return database
    .all(`SELECT schedule AS id, record FROM one_shots ORDER BY record ->> '$.at', schedule`)
    .map((row) => readRecord(database, oneShotSchema, row));
}

export function planOnce(database: Database, given: NewOneShot, now: Date): OneShot {
  const first = readOneShots(database).find(({ key }) => key === given.key);
  if (first) return first;
  const schedule = `once-${randomBytes(4).toString("hex")}`;
  const oneShot = oneShotSchema.parse({ ...given, schedule, planned_at: now.toISOString() });
  database.run(
    "INSERT INTO one_shots (agent, schedule, record, key) VALUES (?, ?, ?, ?)",
    oneShot.agent,
    schedule,
    JSON.stringify(oneShot),
    oneShot.key,
  );
  return oneShot;
}
