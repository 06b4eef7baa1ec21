import { z } from "zod";
import { spendLimitSchema } from "../gateway/metering/decide-call.ts";
import type { SpareContainer } from "../runner/container/spare.ts";
import type { RunOrder } from "../runner/run-order.ts";
import { runReportSchema, sessionTotalsSchema } from "../runner/run-report.ts";
import { errandAnswerSchema, errandKindSchema } from "../state/errand.ts";
import { placeSchema } from "../state/job.ts";
import type { RunnerLease } from "../state/lease-file.ts";
import { processIdentitySchema } from "../state/process-identity.ts";
import { questionShape, replySchema } from "../state/question.ts";

/** What a runner is told in one line on its standard input. The environment holds secrets: it is never stored. */
export interface RunnerAssignment {
  stateDir: string;
  order: RunOrder;
  environment: Record<string, string>;
  /** A container that waits for this agent. */
  spare?: SpareContainer;
  /** Of a node of a shared store: how long it may go on. */
  lease?: RunnerLease;
  /** There is no job yet: its `claude` is to be started and to wait for it. */
  ahead?: boolean;
  /** It is not on record yet: another line says that it is, or the end of input that it never will be. */
  held?: boolean;
}

/** What must be known of a run to tell its end when its runner cannot, and the agent may be gone. */
const runFactsSchema = z.object({
  forked_from: z.string().nullable(),
  /** Runners of an earlier version were on the host, all of them. */
  place: placeSchema.default("cli"),
  cwd: z.string(),
  config_dir: z.string(),
  claude_version: z.string().nullable(),
  credential: z.enum(["subscription", "api_key"]).nullable(),
  metadata_file: z.string().nullable(),
  /** Files of the workspace that the agent may not hand out. */
  closed_paths: z.array(z.string()).default([]),
  /** No run of an earlier version had to give one. */
  demands_report: z.boolean().default(false),
  /** Where this attempt begins in `output.jsonl`, which all attempts of a job share. */
  output_from: z.number().int().nonnegative(),
  /** Of a turn in a `claude` that was up: by what its processes are known, and what had been spent. */
  live: z
    .object({ run_token: z.string(), totals: sessionTotalsSchema.nullable() })
    .nullable()
    .default(null),
});
export type RunFacts = z.infer<typeof runFactsSchema>;

/**
 * `jobs/<id>/runner-<attempt>.json`, linked into place before anything is started. Whoever makes it
 * first owns the attempt: a fleet that finds no such file makes it itself with `void: true`, and a
 * runner that comes too late does nothing.
 */
export const runnerFileSchema = z.object({
  version: z.literal(1),
  attempt: z.number().int().positive(),
  runner: processIdentitySchema.nullable(),
  void: z.boolean(),
  session_id: z.string().nullable(),
  started_at: z.iso.datetime(),
  run: runFactsSchema.nullable(),
});
export type RunnerFile = z.infer<typeof runnerFileSchema>;

/** Lines of JSON on `jobs/<id>/runner.sock`. What the agent says is read from `output.jsonl`. */
const fromRunnerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hello"), job_id: z.string(), attempt: z.number() }),
  z.object({
    type: z.literal("approval"),
    request_id: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    description: z.string().optional(),
    /** What a person is asked; without it, whether the tool may be used. */
    question: z.object(questionShape).optional(),
    asked_at: z.iso.datetime(),
    /** Denied then, if nobody has said a word. */
    expires_at: z.iso.datetime(),
  }),
  z.object({
    type: z.literal("approval_withdrawn"),
    request_id: z.string(),
    why: z.enum(["answered", "expired", "withdrawn"]),
  }),
  z.object({
    type: z.literal("errand"),
    request_id: z.string(),
    kind: errandKindSchema,
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal("errand_withdrawn"), request_id: z.string() }),
  /** What the gateway has metered of this attempt so far; said again to every client that connects. */
  z.object({
    type: z.literal("spending"),
    attempt: z.number(),
    usd: z.number().nonnegative(),
    tokens: z.number().nonnegative(),
  }),
  /** The last line. What it says lies in `outcome.json` as well, for whoever comes later. */
  z.object({ type: z.literal("outcome"), report: runReportSchema }),
]);
export type FromRunner = z.infer<typeof fromRunnerSchema>;
export type ApprovalAsked = Extract<FromRunner, { type: "approval" }>;
export type SpendingTold = Extract<FromRunner, { type: "spending" }>;
export type ErrandAsked = Extract<FromRunner, { type: "errand" }>;
export type ApprovalWithdrawn = Extract<FromRunner, { type: "approval_withdrawn" }>;

const toRunnerSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("stop"),
    reason: z.enum(["cancelled", "interrupted"]),
    /** Does not ask claude first. */
    force: z.boolean(),
  }),
  z.object({
    type: z.literal("answer"),
    request_id: z.string(),
    behavior: z.enum(["allow", "deny"]),
    message: z.string(),
    /** What became of a question. */
    reply: replySchema.optional(),
  }),
  /** In place of the shared limits of the order; without a fleet the last ones stay in force. */
  z.object({ type: z.literal("spend_limits"), limits: z.array(spendLimitSchema) }),
  z.object({
    type: z.literal("errand_answer"),
    request_id: z.string(),
    answer: errandAnswerSchema,
  }),
]);
export type ToRunner = z.infer<typeof toRunnerSchema>;

/** A line of a kind that this version does not know is no line. */
export function readFromRunner(line: string): FromRunner | undefined {
  return fromRunnerSchema.safeParse(parseJson(line)).data;
}

export function readToRunner(line: string): ToRunner | undefined {
  return toRunnerSchema.safeParse(parseJson(line)).data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
