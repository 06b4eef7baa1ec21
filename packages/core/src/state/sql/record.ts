import type { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { Row } from "./steps.ts";

/** A record as it was stored; one that no longer fits its schema was damaged on the disk. */
export function readRecord<S extends z.ZodType>(
  { name }: Pick<SqlDatabase, "name">,
  schema: S,
  row: Row,
  computed: object = {},
): z.output<S> {
  try {
    return schema.parse({ ...JSON.parse(String(row.record)), ...computed });
  } catch (cause) {
    const id = String(row.id ?? row.session_id ?? row.job_id);
    throw damaged(name, `the record of ${id} cannot be read`, cause);
  }
}

export function damaged(name: string, found: string, cause?: unknown): UserError {
  return new UserError("state_damaged", `${name} is damaged: ${found}`, { cause });
}
