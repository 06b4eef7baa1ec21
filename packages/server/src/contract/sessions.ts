import { type SessionView, sessionSchema } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

const ownFields = {
  expired: z.boolean(),
  obstacle: z.object({ short: z.string(), message: z.string(), hint: z.string() }).nullable(),
} satisfies Partial<Shape<SessionView>>;

export const sessionViewSchema = sessionSchema.extend(ownFields);
