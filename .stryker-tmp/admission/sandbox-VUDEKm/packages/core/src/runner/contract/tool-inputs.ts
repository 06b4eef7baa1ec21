import { z } from "zod";

const maxPromptLength = 100_000;

export const delegateInputSchema = z.strictObject({
  agent: z.string().min(1).describe("Name of the agent"),
  prompt: z.string().trim().min(1).max(maxPromptLength).describe("The complete task"),
  wait: z.boolean().default(false).describe("Whether to wait for the job and receive its result"),
});

/** One flat object: the API does not accept a union at the top of a tool's schema. */
export const scheduleInputSchema = z.strictObject({
  action: z
    .enum(["list", "plan", "remove", "switch", "change"])
    .describe(
      "`list` your schedules; `plan` one run; `remove` a run you planned; `switch` a schedule on or off; `change` the time between runs",
    ),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe("plan: when, such as 2030-01-31T09:00:00Z"),
  in: z.string().optional().describe("plan: delay from now instead of `at`, such as 2h"),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(maxPromptLength)
    .optional()
    .describe("plan: the prompt of that run"),
  schedule: z.string().optional().describe("remove, switch, change: which schedule"),
  enabled: z.boolean().optional().describe("switch: on or off"),
  every: z.string().optional().describe("change: time between runs, such as 30m"),
});

export type ScheduleInput = z.output<typeof scheduleInputSchema>;
