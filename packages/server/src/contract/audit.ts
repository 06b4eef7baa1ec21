import {
  type AuditPage,
  type AuditQuery,
  auditActions,
  storedAuditRecordSchema,
} from "@herdctl/core";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import type { Shape } from "./shape.ts";

const auditQuerySchema = z.strictObject({
  since: z.iso
    .datetime({ offset: true })
    .transform((time) => new Date(time))
    .optional(),
  identity: z.string().optional(),
  action: z.enum(auditActions).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.coerce.number().int().positive().optional(),
} satisfies Shape<AuditQuery>);

const auditPageSchema = z.object({
  records: z.array(storedAuditRecordSchema),
  next: z.number().int().nullable(),
} satisfies Shape<AuditPage>);

export const auditEndpoints = {
  audit: endpoint("audit", {
    summary:
      "The audit log, newest record first, a page at a time: who did what, from where, and how it ended.",
    query: auditQuerySchema,
    response: auditPageSchema,
    answer: ({ control }, { query }) => control.audit(query),
  }),
};
