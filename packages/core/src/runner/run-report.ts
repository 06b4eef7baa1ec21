import { z } from "zod";
import { artifactSchema } from "../state/artifacts.ts";
import { containerImageSchema } from "../state/job.ts";
import { jobGitSchema } from "../state/job-git.ts";
import { outcomeSchema } from "../state/outcome.ts";
import { usageSchema } from "../state/usage.ts";

const modelTotals = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadInputTokens: z.number(),
  cacheCreationInputTokens: z.number(),
  costUSD: z.number().optional(),
});

export const modelTotalsSchema = z.record(z.string(), modelTotals);

export const sessionTotalsSchema = z.object({ costUsd: z.number(), models: modelTotalsSchema });

/** The last word of a runner, as it lies in `outcome.json` until the fleet has recorded it. */
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
  credential: z.enum(["subscription", "api_key"]).nullable(),
  /** Reports of an earlier version know of none. */
  container_id: z.string().nullable().default(null),
  container_image: containerImageSchema.nullable().default(null),
  claude_version: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** What the agent handed in; reports of an earlier version know of nothing. */
  report: z.unknown().default(null),
  artifacts: z.array(artifactSchema).default([]),
  git: jobGitSchema.nullable().default(null),
  warnings: z.array(z.string()),
  /** The runner died before it could say how the run ended: this was told from what it left. */
  crashed: z.boolean().default(false),
});
export type RunReport = z.infer<typeof runReportSchema>;
