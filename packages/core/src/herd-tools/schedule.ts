import { z } from "zod";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdTool, herdTool } from "./herd-tool.ts";
import { runErrand } from "./run-errand.ts";

const longestPrompt = 100_000;

/** One flat object: the API takes no alternatives at the top of a tool's schema. */
export const scheduleInput = z.strictObject({
  action: z
    .enum(["list", "plan", "remove", "switch", "change"])
    .describe(
      "`list` your schedules; `plan` one run; `remove` a run you planned; `switch` a schedule on or off; `change` the time between runs",
    ),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe("plan: when, such as 2030-01-31T09:00:00Z"),
  in: z.string().optional().describe("plan: in place of `at`, how long from now, such as 2h"),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(longestPrompt)
    .optional()
    .describe("plan: what you are to be told then"),
  schedule: z.string().optional().describe("remove, switch, change: which schedule"),
  enabled: z.boolean().optional().describe("switch: on or off"),
  every: z.string().optional().describe("change: time between runs, such as 30m"),
});
export type ScheduleInput = z.output<typeof scheduleInput>;

/** An agent's own schedules. What it may not decide alone, a person is asked. */
export function scheduleTool(doors: HerdDoors): HerdTool {
  return herdTool({
    name: "schedule",
    title: "Look at and plan your own runs",
    description:
      "Shows when you run next and plans a further run of yours. Beyond the bounds you were given a person is asked first, which may take long.",
    input: scheduleInput,
    call: (input, signal) => runErrand(doors, "schedule", input, signal),
  });
}
