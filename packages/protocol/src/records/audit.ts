import { z } from "zod";
import { type AuditAction, auditActions } from "./audit-actions.ts";

const detailSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** One action. The store adds its number, its time and the hash of the previous record. */
export const auditEntrySchema = z.object({
  /** The authenticated identity of the caller. */
  identity: z.string().min(1),
  /** A network address or a channel. */
  origin: z.string().min(1),
  action: z.enum(auditActions),
  /** The object of the action, such as a job ID. */
  target: z.string().nullable(),
  /** `refused` is the caller's error; `failed` is an error of the fleet or its machine. */
  outcome: z.enum(["ok", "refused", "failed"]),
  /** The error code of a refused or failed action. */
  error: z.string().nullable(),
  details: z.record(z.string(), detailSchema),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export type AuditDetails = AuditEntry["details"];

/** One record. Its hash covers all other fields, and through `previous_hash` all earlier records. */
export const storedAuditRecordSchema = z.object({
  number: z.number().int().positive(),
  time: z.iso.datetime(),
  ...auditEntrySchema.shape,
  previous_hash: z.string().nullable(),
  hash: z.string(),
});
export type StoredAuditRecord = z.infer<typeof storedAuditRecordSchema>;

export interface AuditQuery {
  since?: Date;
  identity?: string;
  action?: AuditAction;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface AuditPage {
  /** Newest first. */
  records: StoredAuditRecord[];
  /** The cursor of the next page; null on the last page. */
  next_cursor: string | null;
}
