import type { z } from "zod";
import { type Database, damaged, type Row } from "./database.ts";

/** A record as it was stored; one that no longer fits its schema was damaged on the disk. */
export function readRecord<S extends z.ZodType>(
  database: Database,
  schema: S,
  row: Row,
  computed: object = {},
): z.output<S> {
  try {
    return schema.parse({ ...JSON.parse(String(row.record)), ...computed });
  } catch (cause) {
    const name = String(row.id ?? row.session_id ?? row.job_id);
    throw damaged(database.file, `the record of ${name} cannot be read`, cause);
  }
}
