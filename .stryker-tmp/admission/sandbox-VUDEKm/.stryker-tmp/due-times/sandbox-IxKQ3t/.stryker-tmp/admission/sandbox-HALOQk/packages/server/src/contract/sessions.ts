import type { SessionView } from "@herdctl/protocol";
import { sessionSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

const viewFields = {
  expired: z.boolean(),
  obstacle: z.object({ short: z.string(), message: z.string(), hint: z.string() }).nullable(),
} satisfies Partial<FieldSchemas<SessionView>>;

export const sessionViewSchema = sessionSchema.extend(viewFields);
