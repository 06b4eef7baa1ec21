import { z } from "zod";

/** A file that an agent kept with its job. */
export const artifactSchema = z.object({
  name: z.string(),
  bytes: z.number().int().nonnegative(),
  kept_at: z.iso.datetime(),
});

export type Artifact = z.infer<typeof artifactSchema>;
