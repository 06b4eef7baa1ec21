import { z } from "zod";
import { durationSchema } from "./value-schemas.ts";

export const faultKinds = [
  "status",
  "error",
  "overload",
  "cut",
  "stall",
  "garbage",
  "drip",
  "never",
] as const;

/** Failures that every provider reports in its own words. */
const providerErrorKinds = [
  "throttled",
  "daily_quota",
  "expired_token",
  "access_denied",
  "model_denied",
  "overloaded",
] as const;
export type ProviderErrorKind = (typeof providerErrorKinds)[number];

const countSchema = z.int().min(0);

const faultSchema = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    /** A failure in the words of the provider that the request is for. */
    error: z.enum(providerErrorKinds).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    error_type: z.string().optional(),
    message: z.string().optional(),
    overload: z.enum(["before", "midway"]).optional(),
    cut: z
      .union([z.strictObject({ events: countSchema }), z.strictObject({ bytes: countSchema })])
      .optional(),
    stall: z.strictObject({ events: countSchema }).optional(),
    garbage: z.enum(["events", "body"]).optional(),
    drip: z.strictObject({ bytes: z.int().min(1), every: durationSchema }).optional(),
    never: z.literal(true).optional(),
    times: z.int().min(1).optional(),
  })
  .superRefine((fault, context) => {
    const setKinds = faultKinds.filter((kind) => fault[kind] !== undefined);
    if (setKinds.length === 1) return;
    const hint = `Set exactly one of ${faultKinds.join(", ")}. Use a list for several faults.`;
    const message =
      setKinds.length === 0
        ? "this fault has no kind"
        : `a fault cannot have several kinds: ${setKinds.join(", ")}`;
    context.addIssue({ code: "custom", message, params: { hint } });
  });

/** One or several faults, used in order. */
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
          message: "this fault has no limit, so later faults are never used",
          params: { hint: "Add `times:`. Only the last fault of a list may omit it." },
        });
      });
    }),
]);

export type Fault = z.output<typeof faultSchema>;
