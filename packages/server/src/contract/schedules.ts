import type {
  BudgetUsage,
  BudgetView,
  DueTimePage,
  DueTimeQuery,
  ScheduleView,
} from "@herdctl/protocol";
import { dueTimeRecordSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

export const scheduleViewSchema = z.object({
  agent: z.string(),
  schedule: z.string(),
  type: z.enum(["interval", "cron", "at", "webhook"]),
  when: z.string(),
  timezone: z.string().nullable(),
  enabled: z.boolean(),
  overridden: z.boolean(),
  overlap: z.string(),
  catch_up: z.string().nullable(),
  gate: z.boolean(),
  next: z.array(z.string()),
  last: dueTimeRecordSchema.nullable(),
  scheduled_by: z.string().nullable(),
  prompt: z.string().nullable(),
  interval_changed: z.boolean(),
} satisfies FieldSchemas<ScheduleView>);

export const dueQuerySchema = z.strictObject({
  agent: z.string().optional(),
  schedule: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional(),
} satisfies FieldSchemas<DueTimeQuery>);

export const duePageSchema = z.object({
  due_times: z.array(dueTimeRecordSchema),
  next_cursor: z.string().nullable(),
} satisfies FieldSchemas<DueTimePage>);

const amountsSchema = z.object({ usd: z.number(), jobs: z.number(), tokens: z.number() });

const budgetLineFields = {
  limits: z.object({
    usd: z.number().nullable(),
    jobs: z.number().nullable(),
    tokens: z.number().nullable(),
  }),
  spent: amountsSchema,
  reserved_usd: z.number(),
  raised: amountsSchema,
} satisfies FieldSchemas<BudgetUsage>;

export const budgetViewSchema = z.object({
  day: z.string(),
  fleet: z.object(budgetLineFields),
  agents: z.array(z.object({ agent: z.string(), ...budgetLineFields })),
} satisfies FieldSchemas<BudgetView>);

/** Sums of many raises stay exact. */
const maxRaise = { usd: 1e6, jobs: 1e6, tokens: 1e12 };

export const raiseBudgetSchema = z
  .strictObject({
    agent: z.string().min(1).optional(),
    usd: z.number().positive().max(maxRaise.usd).optional(),
    jobs: z.number().int().positive().max(maxRaise.jobs).optional(),
    tokens: z.number().int().positive().max(maxRaise.tokens).optional(),
  })
  .refine(({ usd, jobs, tokens }) => (usd ?? jobs ?? tokens) !== undefined, {
    error: "expected at least one of `usd`, `jobs` and `tokens`",
  });
