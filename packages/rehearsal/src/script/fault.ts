import { z } from "zod";
import { duration } from "./values.ts";

export const faultKinds = [
  "status",
  "overload",
  "cut",
  "stall",
  "garbage",
  "drip",
  "never",
] as const;

const amount = z.int().min(0);

const faultSchema = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    error_type: z.string().optional(),
    message: z.string().optional(),
    overload: z.enum(["before", "midway"]).optional(),
    cut: z
      .union([z.strictObject({ events: amount }), z.strictObject({ bytes: amount })])
      .optional(),
    stall: z.strictObject({ events: amount }).optional(),
    garbage: z.enum(["events", "body"]).optional(),
    drip: z.strictObject({ bytes: z.int().min(1), every: duration }).optional(),
    never: z.literal(true).optional(),
    times: z.int().min(1).optional(),
  })
  .superRefine((fault, context) => {
    const chosen = faultKinds.filter((kind) => fault[kind] !== undefined);
    if (chosen.length === 1) return;
    const hint = `Write exactly one of ${faultKinds.join(", ")}; more of them go in a list.`;
    const message =
      chosen.length === 0
        ? "this fault does not say what goes wrong"
        : `one fault cannot be ${chosen.join(" and ")} at once`;
    context.addIssue({ code: "custom", message, params: { hint } });
  });

/** One fault or several; they are used up from the first to the last. */
export const faultsSchema = z.union([
  faultSchema,
  z
    .array(faultSchema)
    .min(1)
    .superRefine((faults, context) => {
      faults.slice(0, -1).forEach((fault, index) => {
        if (fault.times !== undefined) return;
        context.addIssue({
          code: "custom",
          path: [index],
          message: "this fault never ends, so the ones after it never come",
          params: { hint: "Add `times:`; only the last of a list may go without." },
        });
      });
    }),
]);

export type Fault = z.output<typeof faultSchema>;
