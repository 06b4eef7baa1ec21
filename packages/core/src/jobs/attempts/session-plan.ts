import type { ResolvedAgent } from "@herdctl/config";
import {
  type Job,
  type OutcomeCode,
  outcomes,
  type Session,
  type SessionHomeKind,
} from "@herdctl/protocol";
import { isExpired } from "@herdctl/protocol/schemas";
import { readSessionFile } from "../../claude/session-files/follow-session-file.ts";
import { type SessionHome, sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { blocksOf, roleOf, type SessionLine } from "../../claude/session-files/session-line.ts";
import type { StateManager } from "../../store/state-manager.ts";

/**
 * The session that a job asks for. `latest` is the session of the last run, if it can be resumed.
 */
export type SessionWish =
  | { kind: "latest" }
  | { kind: "fresh" }
  | { kind: "resume"; sessionId: string }
  | { kind: "fork"; sessionId: string; at?: string };

export type SessionPlan =
  | { kind: "fresh"; reason?: string }
  /** `ifBusy`: what to do while another run writes to the session. */
  | { kind: "resume"; sessionId: string; ifBusy: "wait" | "fork" }
  | { kind: "fork"; from: string; at?: string }
  | { kind: "refuse"; message: string; hint: string };

export interface SessionFacts {
  place: SessionHomeKind;
  cwd: string;
  now: Date;
  wish: SessionWish;
  /** The record of the requested or latest session. Sessions created by hand have none. */
  known?: Session;
  /** The transcript is where claude looks for it. */
  transcriptExists: boolean;
  /** The transcript contains the message to fork at. */
  hasForkPoint?: boolean;
}

/** Decides which session a run writes to, before any money is spent. */
export function planSession(facts: SessionFacts): SessionPlan {
  const { wish } = facts;
  if (wish.kind === "fresh") return { kind: "fresh" };
  if (wish.kind === "latest") return planLatest(facts);
  const refusal = refuseIfNotResumable(facts, wish.sessionId);
  if (refusal) return refusal;
  if (wish.kind === "fork") return planFork(wish, facts);
  return { kind: "resume", sessionId: wish.sessionId, ifBusy: "wait" };
}

/**
 * Whether runs of a schedule, or runs without one, resume a session. A schedule that differs from
 * its agent owns its sessions: only its runs resume them by default.
 */
export function sessionRule(
  { session, schedules }: Pick<ResolvedAgent, "session" | "schedules">,
  schedule: string | null,
): { shouldResume: boolean; ownerSchedule: string | null } {
  const resumesByDefault = session.mode === "persistent";
  const shouldResume =
    (schedule === null ? undefined : schedules[schedule]?.resume_session) ?? resumesByDefault;
  return { shouldResume, ownerSchedule: shouldResume === resumesByDefault ? null : schedule };
}

function planFork(
  { sessionId, at }: Extract<SessionWish, { kind: "fork" }>,
  { hasForkPoint }: SessionFacts,
): SessionPlan {
  if (at === undefined) return { kind: "fork", from: sessionId };
  if (hasForkPoint) return { kind: "fork", from: sessionId, at };
  return {
    kind: "refuse",
    message: `there is no message ${at} in session ${sessionId}`,
    hint: "Take the `uuid` of a message of that session from the output of its job.",
  };
}

function planLatest(facts: SessionFacts): SessionPlan {
  const { known } = facts;
  if (!known) return { kind: "fresh" };
  if (isExpired(known, facts.now)) return { kind: "fresh", reason: "the last session has expired" };
  if (known.cwd !== facts.cwd)
    return { kind: "fresh", reason: "the last session worked in another folder" };
  if (!facts.transcriptExists)
    return { kind: "fresh", reason: "the transcript of the last session is gone" };
  return { kind: "resume", sessionId: known.session_id, ifBusy: "fork" };
}

function refuseIfNotResumable(
  { known, place, transcriptExists }: SessionFacts,
  sessionId: string,
): SessionPlan | undefined {
  if (known && known.session_home !== place) {
    return {
      kind: "refuse",
      message: `session ${sessionId} was created by \`${known.session_home}\` and can only be resumed there`,
      hint: `Resume it with an agent that uses \`${known.session_home}\`, or start a fresh session.`,
    };
  }
  if (transcriptExists) return undefined;
  return {
    kind: "refuse",
    message: `there is no session ${sessionId} in the agent's working directory`,
    hint: "Run `herdctl sessions` to see what can be resumed.",
  };
}

/** The state that earlier attempts of a job left in their session. */
export interface PriorAttempts {
  sessionId: string;
  /** Messages of this job, without earlier messages of the session. */
  messageCount: number;
  /** The model's context still contains the task. */
  hasTask: boolean;
  /** How the last attempt ended. */
  lastOutcome: OutcomeCode;
}

type AttemptPlan =
  | { kind: "as_asked"; prompt: string }
  | { kind: "continue"; sessionId: string; prompt: string };

/**
 * The prompt of an attempt. A task that has reached the model is not sent again: a later attempt
 * continues in the same session. Effects of tools happen at least once.
 */
export function planAttempt(task: string, prior: PriorAttempts | undefined): AttemptPlan {
  if (!prior || prior.messageCount === 0) return { kind: "as_asked", prompt: task };
  const { sessionId, hasTask, lastOutcome } = prior;
  const reference = hasTask ? [] : ["", "The task, for reference:", "", quoteLines(task)];
  const prompt = [
    `Your last run of this task was interrupted. (${outcomes[lastOutcome].message})`,
    "Continue where you left off. First check what is already done, and do not repeat it.",
    ...reference,
  ].join("\n");
  return { kind: "continue", sessionId, prompt };
}

function quoteLines(task: string): string {
  return task
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

interface PriorAttemptsInput {
  state: StateManager;
  job: Job;
  home: SessionHome;
}

/** Undefined on a first attempt, or if earlier attempts opened no session. */
export async function readPriorAttempts(
  input: PriorAttemptsInput,
): Promise<PriorAttempts | undefined> {
  const { state, job, home } = input;
  if (job.started_at === null) return undefined;
  const attempts = await state.jobs.listAttempts(job.id);
  const sessionId = attempts.findLast((attempt) => attempt.session_id !== null)?.session_id;
  const session = sessionId ?? job.session_id;
  if (!session) return undefined;
  const file = sessionFilePath(home, session);
  const found = await readPriorMessages(file, Date.parse(job.started_at), job.prompt);
  const lastOutcome = attempts.at(-1)?.outcome_code ?? "interrupted";
  return { sessionId: session, ...found, lastOutcome };
}

async function readPriorMessages(
  file: string,
  since: number,
  task: string,
): Promise<Pick<PriorAttempts, "messageCount" | "hasTask">> {
  const found = { messageCount: 0, hasTask: false };
  for await (const { line, subagent } of readSessionFile(file)) {
    if (subagent || !(Date.parse(line.timestamp ?? "") >= since)) continue;
    const role = roleOf(line);
    // After compaction, earlier messages are in the context only as a summary.
    if (role === "compact_boundary") found.hasTask = false;
    if (!conversationRoles.has(role)) continue;
    found.messageCount += 1;
    if (role === "prompt" && messageText(line).includes(task.trim())) found.hasTask = true;
  }
  return found;
}

const conversationRoles = new Set(["prompt", "assistant", "tool_result"]);

function messageText({ message }: SessionLine): string {
  if (typeof message?.content === "string") return message.content;
  return blocksOf(message, "text")
    .map((block) => String(block.text))
    .join("\n");
}
