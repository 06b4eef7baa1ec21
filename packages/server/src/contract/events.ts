import {
  approvalSchema,
  deliverySchema,
  dueRecordSchema,
  type FleetEvent,
  hookRunSchema,
  jobSchema,
} from "@herdctl/core";
import { z } from "zod";
import { messageSchema } from "./jobs.ts";
import type { Shape } from "./shape.ts";

type FieldsOf<T extends FleetEvent["type"]> = Shape<Omit<Extract<FleetEvent, { type: T }>, "type">>;

const job = { job: jobSchema };
const approval = { approval: approvalSchema };

const fields = {
  "job:created": job,
  "job:started": job,
  "job:output": {
    job_id: z.string(),
    agent: z.string(),
    message: messageSchema,
    offset: z.number().int().nonnegative(),
  },
  "job:waiting": job,
  "job:completed": job,
  "job:failed": job,
  "job:cancelled": job,
  "job:skipped": job,
  "approval:asked": approval,
  "approval:answered": approval,
  "hook:tried": { hook: hookRunSchema },
  "delivery:received": { delivery: deliverySchema },
  "schedule:not_run": { due: dueRecordSchema },
  "schedule:switched": { agent: z.string(), schedule: z.string(), enabled: z.boolean() },
  "agent:paused": { agent: z.string(), reason: z.string() },
  "agent:resumed": { agent: z.string() },
  "fleet:reloaded": { agents: z.array(z.string()) },
  "fleet:problem": { message: z.string() },
  "fleet:stopping": {},
} satisfies { [T in FleetEvent["type"]]: FieldsOf<T> };

/** Some events are gone for good: whoever keeps a picture of the fleet should ask for it anew. */
const resetSchema = z.object({ type: z.literal("reset"), after: z.string() });

export const eventQuerySchema = z.strictObject({
  /** Without what agents say, the stream is small, however many are at work. */
  output: z.enum(["true", "false"]).default("true"),
});

export const eventSchema = z.union([
  ...Object.entries(fields).map(([type, rest]) => z.object({ type: z.literal(type), ...rest })),
  resetSchema,
]);
