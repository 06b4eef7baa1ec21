import { UserError } from "@herdctl/protocol";
import type { z } from "zod";
import type { SqlDatabase } from "./sql-database.ts";
import type { SqlRow } from "./sql-program.ts";

/** Reads a stored record. A record that does not match its schema was damaged on the disk. */
export function readRecord<S extends z.ZodType>(
  { name }: Pick<SqlDatabase, "name">,
  schema: S,
  row: SqlRow,
  computedFields: object = {},
): z.output<S> {
  try {
    return schema.parse({ ...JSON.parse(String(row.record)), ...computedFields });
  } catch (cause) {
    const id = String(row.id ?? row.session_id ?? row.job_id);
    throw damagedError(name, `the record of ${id} cannot be read`, cause);
  }
}

export function damagedError(name: string, finding: string, cause?: unknown): UserError {
  return new UserError("state_damaged", `${name} is damaged: ${finding}`, { cause });
}
