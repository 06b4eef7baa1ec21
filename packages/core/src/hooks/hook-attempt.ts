import type { Environment } from "@herdctl/config";
import type { Approval, HookRun, Job, Outcome } from "@herdctl/protocol";

/** The input of one attempt, for hooks of any type. */
export interface HookAttempt {
  run: HookRun;
  context: HookContext;
  environment: Environment;
  /** The folder of the fleet file. */
  workingDirectory: string;
  /** Its reason is the message why the hook was aborted. */
  signal: AbortSignal;
}

export type HookResult =
  | { ok: true; message: string; output: string }
  | {
      ok: false;
      message: string;
      output: string;
      /** False if another attempt would fail in the same way. */
      isTransient: boolean;
      /** The delay that the receiver asked for, in milliseconds. */
      retryAfterMs?: number;
      /** The HTTP status, if there was a response. */
      status?: number;
    };

export function succeeded(message: string, output = ""): HookResult {
  return { ok: true, message, output };
}

type FailedHook = Extract<HookResult, { ok: false }>;

export function failed(
  message: string,
  details: Partial<Pick<FailedHook, "output" | "isTransient" | "retryAfterMs" | "status">> = {},
): HookResult {
  return { ok: false, message, output: "", isTransient: true, ...details };
}

/** The JSON object that hooks receive. */
export interface HookContext {
  type: "job.finished" | "job.question" | "job.waiting" | "job.limit";
  timestamp: string;
  fleet: string;
  hook: Pick<HookRun, "id" | "event"> & { attempt: number };
  job: ReportedJob;
  /** The page of the dashboard to answer or look at; null if the dashboard has no address. */
  url: string | null;
  /** Only in `job.question`. */
  question?: ReportedQuestion;
  /** Only in `job.waiting` and `job.limit`. */
  wait?: { outcome: Outcome; until: string };
}

type ReportedJob = Omit<Job, "prompt" | "runner" | "idempotency_key" | "due_at" | "priority">;

/** What is asked. `question` is null for a permission request. */
type ReportedQuestion = Omit<
  Approval,
  "job_id" | "attempt" | "request_id" | "input_hash" | "used" | "reason" | "scope" | AnswerField
>;
type AnswerField = "answer" | "reply" | "answered_by" | "answered_note" | "answered_at";

interface HookSource {
  run: HookRun;
  job: Job;
  fleet: string;
  /** URL under which people reach the dashboard. */
  dashboardUrl: string | null;
  /** The open request of `on_question`. */
  approval?: Approval;
}

/** The prompt is left out: it may be long or confidential, and receivers can request the job. */
export function createHookContext(source: HookSource): HookContext {
  const { run, job, fleet, approval } = source;
  const {
    prompt: _,
    runner: __,
    idempotency_key: ___,
    due_at: ____,
    priority: _____,
    ...reportedJob
  } = job;
  const { cause } = run;
  return {
    type: contextType(run.event),
    timestamp: cause === null ? (job.finished_at ?? run.created_at) : run.created_at,
    fleet,
    hook: { id: run.id, event: run.event, attempt: run.attempts },
    job: reportedJob,
    url: pageUrl(source),
    ...(approval && { question: reportedQuestion(approval) }),
    ...(cause?.kind === "wait" && { wait: { outcome: cause.outcome, until: cause.until } }),
  };
}

function contextType(event: HookRun["event"]): HookContext["type"] {
  if (event === "on_question") return "job.question";
  if (event === "on_waiting") return "job.waiting";
  return event === "on_limit" ? "job.limit" : "job.finished";
}

function pageUrl({ run, job, dashboardUrl }: HookSource): string | null {
  if (dashboardUrl === null) return null;
  const page = run.cause?.kind === "question" ? "inbox" : `jobs/${encodeURIComponent(job.id)}`;
  return new URL(page, dashboardUrl.endsWith("/") ? dashboardUrl : `${dashboardUrl}/`).href;
}

function reportedQuestion(approval: Approval): ReportedQuestion {
  const { id, kind, tool, input, question, choices, free_text, multiple, default_reply } = approval;
  const { suggested_rules, requested_at, expires_at } = approval;
  return {
    ...{ id, kind, tool, input, question, choices, free_text, multiple, default_reply },
    ...{ suggested_rules, requested_at, expires_at },
  };
}
