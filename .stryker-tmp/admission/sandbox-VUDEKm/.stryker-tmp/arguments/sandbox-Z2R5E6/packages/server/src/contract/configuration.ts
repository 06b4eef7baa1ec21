import type { ConfigValueView, ConfigView } from "@herdctl/protocol";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

const sourceLocationSchema = z.object({ file: z.string(), line: z.number(), column: z.number() });

const shownValueSchema = z.object({
  path: z.string(),
  value: z.unknown(),
  /** Missing for herdctl's defaults. */
  from: sourceLocationSchema.optional(),
} satisfies FieldSchemas<ConfigValueView>);

export const shownConfigSchema = z.object({
  fleet: z.array(shownValueSchema),
  agents: z.array(z.object({ name: z.string(), values: z.array(shownValueSchema) })),
} satisfies FieldSchemas<ConfigView>);
