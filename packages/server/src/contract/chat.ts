import type { ChatConnectionStatus } from "@herdctl/protocol";
import { chatPlatformSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

export const chatConnectionSchema = z.object({
  agent: z.string(),
  platform: chatPlatformSchema,
  state: z.enum(["connecting", "connected", "failed"]),
  problem: z.string().nullable(),
  active_conversations: z.number().int().nonnegative(),
} satisfies FieldSchemas<ChatConnectionStatus>);
