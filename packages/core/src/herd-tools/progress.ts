import { z } from "zod";
import { type HerdTool, herdTool } from "./herd-tool.ts";

/** The call itself, as it stands in the job's log, is what people see: see `runner/doing.ts`. */
export function progressTool(): HerdTool {
  return herdTool({
    name: "progress",
    title: "Say how far you are",
    description:
      "Tells the people who look on what you are doing, in one short line. Call it when a new part of the work begins.",
    input: z.strictObject({
      text: z.string().trim().min(1).max(200).describe("What you are doing, in one line"),
      fraction: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe("How much of the work is done, 0 to 1"),
    }),
    call: async () => ({ text: "Shown." }),
  });
}
