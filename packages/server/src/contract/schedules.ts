import type { BudgetLine, BudgetView, DuePage, DueQuery, ScheduleView } from "@herdctl/core";
import { dueRecordSchema } from "@herdctl/core/records";
import { z } from "zod";
import type { Shape } from "./shape.ts";

export const scheduleViewSchema = z.object({
  agent: z.string(),
  schedule: z.string(),
  type: z.enum(["interval", "cron", "at", "webhook"]),
  when: z.string(),
  timezone: z.string().nullable(),
  enabled: z.boolean(),
  switched: z.boolean(),
  overlap: z.string(),
  catch_up: z.string().nullable(),
  gate: z.boolean(),
  next: z.array(z.string()),
  last: dueRecordSchema.nullable(),
  planned_by: z.string().nullable(),
  prompt: z.string().nullable(),
  changed: z.boolean(),
} satisfies Shape<ScheduleView>);

export const dueQuerySchema = z.strictObject({
  agent: z.string().optional(),
  schedule: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional(),
} satisfies Shape<DueQuery>);

export const duePageSchema = z.object({
  records: z.array(dueRecordSchema),
  next: z.string().nullable(),
} satisfies Shape<DuePage>);

const amounts = z.object({ usd: z.number(), jobs: z.number(), tokens: z.number() });

const budgetLine = {
  limits: z.object({
    usd: z.number().nullable(),
    jobs: z.number().nullable(),
    tokens: z.number().nullable(),
  }),
  spent: amounts,
  reserved_usd: z.number(),
  raised: amounts,
} satisfies Shape<BudgetLine>;

export const budgetViewSchema = z.object({
  day: z.string(),
  fleet: z.object(budgetLine),
  agents: z.array(z.object({ agent: z.string(), ...budgetLine })),
} satisfies Shape<BudgetView>);

export const raiseSchema = z.strictObject({
  agent: z.string().min(1).optional(),
  usd: z.number().positive().optional(),
  jobs: z.number().int().positive().optional(),
  tokens: z.number().int().positive().optional(),
});
