import type { ShownConfig, ShownValue } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

const placeSchema = z.object({ file: z.string(), line: z.number(), column: z.number() });

const valueSchema = z.object({
  path: z.string(),
  value: z.unknown(),
  /** Absent when the value is a default of herdctl's own. */
  from: placeSchema.optional(),
} satisfies Shape<ShownValue>);

export const shownConfigSchema = z.object({
  fleet: z.array(valueSchema),
  agents: z.array(z.object({ name: z.string(), values: z.array(valueSchema) })),
} satisfies Shape<ShownConfig>);
