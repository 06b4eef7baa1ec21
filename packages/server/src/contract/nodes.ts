import { type NodeView, nodeRoleSchema } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

const count = z.number().int().nonnegative();

export const nodeViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: nodeRoleSchema,
  labels: z.array(z.string()),
  capacity: count,
  running: count,
  version: z.string(),
  status: z.enum(["live", "left", "lost"]),
  lead: z.boolean(),
  joined_at: z.string(),
  heartbeat_at: z.string(),
  seconds_since_beat: z.number().nonnegative(),
  skew_ms: z.number().nullable(),
  config_in_force: z.boolean(),
  here: z.boolean(),
} satisfies Shape<NodeView>);
