import { createHash } from "node:crypto";
import type { AuditEntry, AuditPage, AuditQuery, StoredAuditRecord } from "@herdctl/protocol";
import { canonicalJson } from "../../lib/canonical-json.ts";

/**
 * The end of the log. It is stored apart from the records, so that removing the last records is
 * detected.
 */
export interface AuditHead {
  count: number;
  hash: string | null;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<StoredAuditRecord>;
  list(query: AuditQuery): Promise<AuditPage>;
  head(): Promise<AuditHead>;
  /** Rows as they are stored, in order, from this number on; a few at a time. */
  readRowsFrom(firstNumber: number): Promise<AuditRow[]>;
}

/** A record as it is stored, before it is verified. */
export interface AuditRow {
  number: number;
  record: string;
  hash: string;
}

export function hashAuditRecord(record: unknown): string {
  return createHash("sha256").update(canonicalJson(record)).digest("hex");
}
