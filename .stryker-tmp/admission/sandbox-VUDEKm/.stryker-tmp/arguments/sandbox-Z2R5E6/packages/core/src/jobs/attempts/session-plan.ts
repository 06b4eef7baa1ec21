import type { ResolvedAgent } from "@herdctl/config";
import type { Session, SessionHomeKind } from "@herdctl/protocol";
import { isExpired } from "@herdctl/protocol/schemas";

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
