import { type ChatLinkStatus, platformSchema } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

export const chatLinkSchema = z.object({
  agent: z.string(),
  platform: platformSchema,
  state: z.enum(["connecting", "connected", "failed"]),
  problem: z.string().nullable(),
  working: z.number().int().nonnegative(),
} satisfies Shape<ChatLinkStatus>);
