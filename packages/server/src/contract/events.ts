import type { FleetEvent } from "@herdctl/protocol";
import {
  approvalSchema,
  deliverySchema,
  dueTimeRecordSchema,
  hookRunSchema,
  jobSchema,
} from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";
import { messageSchema } from "./jobs.ts";

type FieldsOf<T extends FleetEvent["type"]> = FieldSchemas<
  Omit<Extract<FleetEvent, { type: T }>, "type" | "at">
>;

const job = { job: jobSchema };
const approval = { approval: approvalSchema };

const eventFields = {
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
  "approval:requested": approval,
  "approval:answered": approval,
  "hook:attempted": { hook: hookRunSchema },
  "delivery:received": { delivery: deliverySchema },
  "schedule:not_run": { due: dueTimeRecordSchema },
  "schedule:toggled": { agent: z.string(), schedule: z.string(), enabled: z.boolean() },
  "agent:paused": { agent: z.string(), reason: z.string() },
  "agent:resumed": { agent: z.string() },
  "fleet:reloaded": { agents: z.array(z.string()) },
  "fleet:problem": { message: z.string() },
  "fleet:stopping": {},
} satisfies { [T in FleetEvent["type"]]: FieldsOf<T> };

/** Events were lost: clients should fetch the state of the fleet again. */
const resetSchema = z.object({ type: z.literal("reset"), after: z.string() });

export const eventQuerySchema = z.strictObject({
  /** `false` omits agent output, which keeps the stream small. */
  output: z.enum(["true", "false"]).default("true"),
});

export const eventSchema = z.union([
  ...Object.entries(eventFields).map(([type, typeFields]) =>
    z.object({ type: z.literal(type), at: z.string(), ...typeFields }),
  ),
  resetSchema,
]);
