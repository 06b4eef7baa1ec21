import type { JobSearchHit, JobSearchPage, JobSearchQuery } from "@herdctl/protocol";
import { jobSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";
import type { FieldSchemas } from "./field-schemas.ts";

const searchQuerySchema = z.strictObject({
  text: z.string().min(1).max(1_000),
  agent: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().optional(),
} satisfies FieldSchemas<JobSearchQuery>);

const hitSchema = z.object({
  job: jobSchema,
  field: z.enum(["prompt", "summary", "output"]),
  excerpt: z.string(),
} satisfies FieldSchemas<JobSearchHit>);

const searchPageSchema = z.object({
  hits: z.array(hitSchema),
  next_cursor: z.string().nullable(),
} satisfies FieldSchemas<JobSearchPage>);

export const searchEndpoints = {
  search: defineEndpoint("search", {
    summary:
      "Search the prompts, summaries and outputs of all jobs that ran, newest first. All words of `text` must occur; each of three or more letters may be the start of a word. `next_cursor` is the `cursor` of the next page.",
    query: searchQuerySchema,
    response: searchPageSchema,
    handle: ({ control }, { query }) => control.jobs.search(query),
  }),
};
