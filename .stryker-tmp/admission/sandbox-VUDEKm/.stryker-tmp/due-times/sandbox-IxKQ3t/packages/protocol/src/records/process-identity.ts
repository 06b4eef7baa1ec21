import { z } from "zod";

/** Identifies a process even if its PID is reused. */
export const processIdentitySchema = z.object({
  pid: z.number().int().positive(),
  start_time: z.string(),
  boot_id: z.string(),
});

export type ProcessIdentity = z.infer<typeof processIdentitySchema>;
