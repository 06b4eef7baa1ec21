import type { ToolRule } from "@herdctl/protocol";
import {
  credentialKindSchema,
  processIdentitySchema,
  questionFields,
  replySchema,
  servedBySchema,
  sessionHomeSchema,
  toolRuleSchema,
} from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { RunnerLease } from "../../store/files/lease-file.ts";
import { toolCallAnswerSchema, toolCallKindSchema } from "../../store/model/tool-call.ts";
import type { SessionPermissions } from "./permission-rules.ts";
import type { RunOrder } from "./run-order.ts";
import { sessionTotalsSchema } from "./run-report.ts";
import { spendLimitSchema } from "./spend-limit.ts";

/** Sent to a runner as one line of JSON on stdin. Never stored, because the environment holds secrets. */
export interface RunnerAssignment {
  stateDir: string;
  order: RunOrder;
  environment: Record<string, string>;
  /** Only with a shared store: how long the runner may continue. */
  lease?: RunnerLease;
  /** The program of a caller runs the attempt, and no fleet follows it. */
  isStandalone?: boolean;
  /** There is no job yet: start `claude` and wait for one. */
  isPrewarm?: boolean;
}

/** Facts needed to build the report of a run after its runner died, even if the agent was removed. */
const runFactsSchema = z.object({
  forked_from: z.string().nullable(),
  /** Missing in files of earlier versions, which only ran on the host. */
  place: sessionHomeSchema.default("cli"),
  cwd: z.string(),
  config_dir: z.string(),
  claude_version: z.string().nullable(),
  credential: credentialKindSchema.nullable(),
  provider: servedBySchema.nullable().default(null),
  metadata_file: z.string().nullable(),
  /** Workspace files that the agent may not publish as artifacts. */
  closed_paths: z.array(z.string()).default([]),
  /** Missing in files of earlier versions, which did not require reports. */
  demands_report: z.boolean().default(false),
  /** Byte offset of this attempt in `output.jsonl`, which all attempts of a job share. */
  output_from: z.number().int().nonnegative(),
  /** For a turn in a kept-alive `claude`: the token of its processes, and the spending before the turn. */
  live: z
    .object({ run_token: z.string(), totals: sessionTotalsSchema.nullable() })
    .nullable()
    .default(null),
});
export type RunFacts = z.infer<typeof runFactsSchema>;

/**
 * `jobs/<id>/runner-<attempt>.json`, linked into place before anything is started. The process that
 * creates it first owns the attempt: a fleet that finds no such file creates it with `void: true`, and
 * a runner that comes too late exits.
 */
export const runnerClaimSchema = z.object({
  version: z.literal(1),
  attempt: z.number().int().positive(),
  runner: processIdentitySchema.nullable(),
  void: z.boolean(),
  session_id: z.string().nullable(),
  started_at: z.iso.datetime(),
  /** The program of a caller runs the attempt, and no fleet follows it. */
  standalone: z.boolean().optional(),
  run: runFactsSchema.nullable(),
});
export type RunnerClaim = z.infer<typeof runnerClaimSchema>;

/** Lines of JSON on `jobs/<id>/runner.sock`. Output of the agent is in `output.jsonl` instead. */
const runnerMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hello"), job_id: z.string(), attempt: z.number() }),
  z.object({
    type: z.literal("approval"),
    request_id: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    description: z.string().optional(),
    suggested_rules: z.array(toolRuleSchema).optional(),
    /** A question to a person. If absent, the request is for permission to use the tool. */
    question: z.object(questionFields).optional(),
    requested_at: z.iso.datetime(),
    /** Denied at this time if there is no decision. */
    expires_at: z.iso.datetime(),
  }),
  z.object({
    type: z.literal("approval_withdrawn"),
    request_id: z.string(),
    why: z.enum(["answered", "expired", "withdrawn"]),
  }),
  z.object({
    type: z.literal("tool_call"),
    request_id: z.string(),
    kind: toolCallKindSchema,
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal("tool_call_withdrawn"), request_id: z.string() }),
  /** Metered spending of this attempt so far; also sent to every client that connects. */
  z.object({
    type: z.literal("spending"),
    attempt: z.number(),
    usd: z.number().nonnegative(),
    tokens: z.number().nonnegative(),
  }),
]);
export type RunnerMessage = z.infer<typeof runnerMessageSchema>;
export type ApprovalRequestMessage = Extract<RunnerMessage, { type: "approval" }>;
export type SpendingMessage = Extract<RunnerMessage, { type: "spending" }>;
export type ToolCallRequest = Extract<RunnerMessage, { type: "tool_call" }>;
export type ApprovalWithdrawnMessage = Extract<RunnerMessage, { type: "approval_withdrawn" }>;

const runnerCommandSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("stop"),
    reason: z.enum(["cancelled", "interrupted"]),
    /** Kill claude without asking it to stop first. */
    force: z.boolean(),
  }),
  z.object({
    type: z.literal("answer"),
    request_id: z.string(),
    behavior: z.enum(["allow", "deny"]),
    /** A person denied it; otherwise nobody answered in time. */
    by_person: z.boolean().optional(),
    message: z.string(),
    /** With a permission: rules for the rest of the process. */
    rules: z.array(toolRuleSchema).optional(),
    /** The answer to a question. */
    reply: replySchema.optional(),
  }),
  /** Replaces the shared limits of the order. While no fleet is connected, the last limits apply. */
  z.object({ type: z.literal("spend_limits"), limits: z.array(spendLimitSchema) }),
  z.object({
    type: z.literal("tool_call_answer"),
    request_id: z.string(),
    answer: toolCallAnswerSchema,
  }),
]);
export type RunnerCommand = z.infer<typeof runnerCommandSchema>;

/** Longer than any legitimate message. */
export const maxMessageBytes = 64 * 1024 * 1024;

/** Undefined for messages that this version does not know. */
export function parseRunnerMessage(line: string): RunnerMessage | undefined {
  return runnerMessageSchema.safeParse(parseJson(line)).data;
}

export function parseRunnerCommand(line: string): RunnerCommand | undefined {
  return runnerCommandSchema.safeParse(parseJson(line)).data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A tool call that needs a decision by a person. */
export interface PermissionRequest {
  toolUseId: string;
  tool: string;
  input: Record<string, unknown>;
  /** Claude Code's description of the call. */
  description?: string;
  /** The rules that would make further requests like this one unnecessary. */
  suggestedRules?: readonly ToolRule[];
}

export type PermissionAnswer =
  | {
      behavior: "allow";
      updatedInput: Record<string, unknown>;
      /** Further calls that Claude Code need not ask for. */
      updatedPermissions?: SessionPermissions[];
    }
  | { behavior: "deny"; message: string; byPerson?: boolean };

export type ElicitationValue = string | number | boolean | string[];

/** A request of an MCP server for data from a person: a form, or a page to open. */
export interface ElicitationRequest {
  server: string;
  message: string;
  mode: "form" | "url";
  url?: string;
  /** JSON Schema of the form. */
  schema?: Record<string, unknown>;
}

export type ElicitationAnswer =
  | { action: "accept"; content?: Record<string, ElicitationValue> }
  | { action: "decline" }
  | { action: "cancel" };

export const approvalTimeoutMs = 30 * 60_000;

const maxPromptLength = 100_000;

export const delegateInputSchema = z.strictObject({
  agent: z.string().min(1).describe("Name of the agent"),
  prompt: z.string().trim().min(1).max(maxPromptLength).describe("The complete task"),
  wait: z.boolean().default(false).describe("Whether to wait for the job and receive its result"),
});

/** One flat object: the API does not accept a union at the top of a tool's schema. */
export const scheduleInputSchema = z.strictObject({
  action: z
    .enum(["list", "plan", "remove", "switch", "change"])
    .describe(
      "`list` your schedules; `plan` one run; `remove` a run you planned; `switch` a schedule on or off; `change` the time between runs",
    ),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe("plan: when, such as 2030-01-31T09:00:00Z"),
  in: z.string().optional().describe("plan: delay from now instead of `at`, such as 2h"),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(maxPromptLength)
    .optional()
    .describe("plan: the prompt of that run"),
  schedule: z.string().optional().describe("remove, switch, change: which schedule"),
  enabled: z.boolean().optional().describe("switch: on or off"),
  every: z.string().optional().describe("change: time between runs, such as 30m"),
});

export type ScheduleInput = z.output<typeof scheduleInputSchema>;
