import { z } from "zod";

/** One shape for everything that goes wrong. `bug` is the code of what only we can fix. */
export const failureSchema = z.object({
  errors: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      hint: z.string(),
      /** Which part of the request, or of a file. */
      path: z.string().optional(),
      file: z.string().optional(),
      line: z.number().int().optional(),
      column: z.number().int().optional(),
    }),
  ),
});
export type Failure = z.infer<typeof failureSchema>;
