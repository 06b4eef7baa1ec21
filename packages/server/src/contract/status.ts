import type { AgentStatus, FleetStatus } from "@herdctl/protocol";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

const count = z.number().int().nonnegative();
const money = z.number().nonnegative();

export const agentStatusSchema = z.object({
  name: z.string(),
  description: z.string().nullable(),
  labels: z.array(z.string()),
  runtime: z.enum(["sdk", "cli"]),
  docker: z.boolean(),
  paused: z.object({ reason: z.string(), since: z.string() }).nullable(),
  pending: count,
  waiting: count,
  max_concurrent: count,
  running: z.array(
    z.object({
      job_id: z.string(),
      started_at: z.string(),
      activity: z.string(),
      node: z.string().nullish(),
    }),
  ),
  schedules: z.array(z.object({ name: z.string(), type: z.string(), enabled: z.boolean() })),
  last_job: z
    .object({
      id: z.string(),
      outcome: z.string().nullable(),
      finished_at: z.string().nullable(),
    })
    .nullable(),
  next_due: z.object({ schedule: z.string(), due_at: z.string() }).nullable(),
  cost_today_usd: money,
} satisfies FieldSchemas<AgentStatus>);

export const fleetStatusSchema = z.object({
  fleet: z.object({
    name: z.string(),
    file: z.string(),
    pid: z.number().int(),
    version: z.string(),
    started_at: z.string(),
    state: z.enum(["starting", "running", "draining", "refusing"]),
    problem: z.string().nullable(),
    pending: count,
    running: count,
    waiting: count,
    max_concurrent: count,
    cost_today_usd: money,
    url: z.string().nullable(),
    shared: z.boolean(),
  } satisfies FieldSchemas<FleetStatus["fleet"]>),
  agents: z.array(agentStatusSchema),
} satisfies FieldSchemas<FleetStatus>);
