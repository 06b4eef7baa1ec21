import { z } from "zod";

/** A person's word on a schedule, which outweighs the configuration. */
export const scheduleSwitchSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  enabled: z.boolean(),
  since: z.iso.datetime(),
});
export type ScheduleSwitch = z.infer<typeof scheduleSwitchSchema>;
