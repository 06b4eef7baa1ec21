import type { NodeView } from "@herdctl/protocol";
import { nodeRoleSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

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
  leader: z.boolean(),
  joined_at: z.string(),
  heartbeat_at: z.string(),
  seconds_since_heartbeat: z.number().nonnegative(),
  clock_skew_ms: z.number().nullable(),
  config_current: z.boolean(),
  self: z.boolean(),
} satisfies FieldSchemas<NodeView>);
