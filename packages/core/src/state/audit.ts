import { createHash } from "node:crypto";
import { z } from "zod";
import { type AuditAction, auditActions } from "./audit-actions.ts";
import { canonicalJson } from "./canonical-json.ts";

const detailSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What is said of one action. The store adds its number, its time and the hash before it. */
export const auditEntrySchema = z.object({
  /** Who acted, as authenticated. */
  identity: z.string().min(1),
  /** From where: a network address or a channel. */
  origin: z.string().min(1),
  action: z.enum(auditActions),
  /** What was acted on, such as the id of a job. */
  target: z.string().nullable(),
  /** `refused` is an answer to the caller; `failed` is a fault of the fleet or its machine. */
  outcome: z.enum(["ok", "refused", "failed"]),
  /** The error code when it was refused or failed. */
  error: z.string().nullable(),
  details: z.record(z.string(), detailSchema),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export type AuditDetails = AuditEntry["details"];

/** One record. Its hash covers all other fields, and so every record before it. */
export const storedAuditRecordSchema = z.object({
  number: z.number().int().positive(),
  time: z.iso.datetime(),
  ...auditEntrySchema.shape,
  previous_hash: z.string().nullable(),
  hash: z.string(),
});
export type StoredAuditRecord = z.infer<typeof storedAuditRecordSchema>;

/** Where the log ends. It is kept apart from the records, so that removing the last ones shows. */
export interface AuditHead {
  count: number;
  hash: string | null;
}

export interface AuditQuery {
  since?: Date;
  identity?: string;
  action?: AuditAction;
  limit: number;
  /** `next` of the page before. */
  cursor?: number;
}

export interface AuditPage {
  /** Newest first. */
  records: StoredAuditRecord[];
  next: number | null;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<StoredAuditRecord>;
  list(query: AuditQuery): Promise<AuditPage>;
  head(): Promise<AuditHead>;
  /** As stored, in order, from this number on; a few at a time. */
  rowsFrom(number: number): Promise<AuditRow[]>;
}

/** A record as it is stored, before anything in it is believed. */
export interface AuditRow {
  number: number;
  record: string;
  hash: string;
}

export function hashAuditRecord(record: unknown): string {
  return createHash("sha256").update(canonicalJson(record)).digest("hex");
}
