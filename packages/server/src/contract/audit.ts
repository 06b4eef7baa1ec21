import { type AuditPage, type AuditQuery, auditActions } from "@herdctl/protocol";
import { storedAuditRecordSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";
import type { FieldSchemas } from "./field-schemas.ts";

const auditQuerySchema = z.strictObject({
  since: z.iso
    .datetime({ offset: true })
    .transform((time) => new Date(time))
    .optional(),
  identity: z.string().optional(),
  action: z.enum(auditActions).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().optional(),
} satisfies FieldSchemas<AuditQuery>);

const auditPageSchema = z.object({
  records: z.array(storedAuditRecordSchema),
  next_cursor: z.string().nullable(),
} satisfies FieldSchemas<AuditPage>);

export const auditEndpoints = {
  audit: defineEndpoint("audit", {
    summary: "List audit records, newest first: who did what, from where, and with which outcome.",
    query: auditQuerySchema,
    response: auditPageSchema,
    handle: ({ control }, { query }) => control.audit.list(query),
  }),
};
