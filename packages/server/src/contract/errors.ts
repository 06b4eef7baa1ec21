import type { ErrorBody } from "@herdctl/protocol";
import { z } from "zod";

/** The body of every error response. Internal errors have the code `bug`. */
export const errorBodySchema = z.object({
  errors: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      hint: z.string(),
      /** The invalid part of the request or file. */
      path: z.string().optional(),
      file: z.string().optional(),
      line: z.number().int().optional(),
      column: z.number().int().optional(),
    }),
  ),
}) satisfies z.ZodType<ErrorBody>;
