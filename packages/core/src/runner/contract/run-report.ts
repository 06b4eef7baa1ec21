import {
  artifactSchema,
  containerImageSchema,
  credentialKindSchema,
  jobGitSchema,
  outcomeSchema,
  servedBySchema,
  usageSchema,
} from "@herdctl/protocol/schemas";
import { z } from "zod";

const modelTotalsEntrySchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadInputTokens: z.number(),
  cacheCreationInputTokens: z.number(),
  costUSD: z.number().optional(),
});

export const modelTotalsSchema = z.record(z.string(), modelTotalsEntrySchema);

export const sessionTotalsSchema = z.object({ costUsd: z.number(), models: modelTotalsSchema });

/** The final report of a runner, stored in `outcome.json` until the fleet has recorded it. */
export const runReportSchema = z.object({
  version: z.literal(1),
  job_id: z.string(),
  attempt: z.number().int().positive(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  outcome: outcomeSchema,
  session_id: z.string(),
  /** False when claude never got as far as opening the session. */
  session_opened: z.boolean(),
  summary: z.string().nullable(),
  turns: z.number().int().nonnegative(),
  cost_usd: z.number().nonnegative().nullable(),
  usage: usageSchema.nullable(),
  session_totals: sessionTotalsSchema.nullable(),
  credential: credentialKindSchema.nullable(),
  provider: servedBySchema.nullable().default(null),
  /** Missing in reports of earlier versions. */
  container_id: z.string().nullable().default(null),
  container_image: containerImageSchema.nullable().default(null),
  claude_version: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** The report that the agent submitted; missing in reports of earlier versions. */
  report: z.unknown().default(null),
  artifacts: z.array(artifactSchema).default([]),
  git: jobGitSchema.nullable().default(null),
  warnings: z.array(z.string()),
  /** The runner died before it wrote a report; this one was built from the files it left. */
  crashed: z.boolean().default(false),
});
export type RunReport = z.infer<typeof runReportSchema>;
