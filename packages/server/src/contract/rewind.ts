import type { RewindOptions, RewindPoint, RewindResult } from "@herdctl/protocol";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";
import type { FieldSchemas } from "./field-schemas.ts";

const idParams = z.object({ id: z.string() });

const pointSchema = z.object({
  message: z.string(),
  at: z.string().nullable(),
  prompt: z.string(),
  of_job: z.boolean(),
} satisfies FieldSchemas<RewindPoint>);

/** Restores files from the copies that Claude Code keeps with `file_checkpointing`. */
export const rewindEndpoints = {
  rewindPoints: defineEndpoint("rewindPoints", {
    summary:
      "List the messages of the job's session to which its files can be restored, oldest first.",
    params: idParams,
    response: z.object({ points: z.array(pointSchema) }),
    handle: async ({ control }, { params }) => ({
      points: await control.jobs.rewindPoints(params.id),
    }),
  }),
  rewind: defineEndpoint("rewind", {
    summary:
      "Restore the files that Claude Code's tools changed to what they were before the message `to`, by default the first of the job. Changes by commands stay. Refused while a job uses the session or its folder.",
    params: idParams,
    body: z.strictObject({
      to: z.string().min(1).optional(),
    } satisfies FieldSchemas<RewindOptions>),
    response: z.object({
      session_id: z.string(),
      working_directory: z.string(),
      point: pointSchema,
    } satisfies FieldSchemas<RewindResult>),
    handle: ({ control }, { params, body }) => control.jobs.rewind(params.id, body),
  }),
};
