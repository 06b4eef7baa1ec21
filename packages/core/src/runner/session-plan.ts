import type { ResolvedAgent } from "../config/resolve.ts";
import type { Place } from "../state/job.ts";
import { isExpired, type Session } from "../state/session.ts";

/** What is asked of the session; `latest` is where the last run left off, if that can be gone on with. */
export type SessionWish =
  | { kind: "latest" }
  | { kind: "fresh" }
  | { kind: "resume"; sessionId: string }
  | { kind: "fork"; sessionId: string; at?: string };

export type SessionPlan =
  | { kind: "fresh"; because?: string }
  /** `ifBusy`: what to do while another run writes to the session. */
  | { kind: "resume"; sessionId: string; ifBusy: "wait" | "fork" }
  | { kind: "fork"; from: string; at?: string }
  | { kind: "refuse"; message: string; hint: string };

export interface SessionFacts {
  place: Place;
  cwd: string;
  now: Date;
  wish: SessionWish;
  /** The record of the wished session, or of the last one; sessions made by hand have none. */
  known?: Session;
  /** The transcript lies where claude would look for it. */
  transcriptExists: boolean;
  /** The message at which a fork is wished for stands in it. */
  hasForkPoint?: boolean;
}

/** Decides before any money is spent which session a run writes to. */
export function planSession(facts: SessionFacts): SessionPlan {
  const { wish } = facts;
  if (wish.kind === "fresh") return { kind: "fresh" };
  if (wish.kind === "latest") return planLatest(facts);
  const refusal = refuse(facts, wish.sessionId);
  if (refusal) return refusal;
  if (wish.kind === "fork") return planFork(wish, facts);
  return { kind: "resume", sessionId: wish.sessionId, ifBusy: "wait" };
}

/**
 * What the configuration says of the runs of a schedule, or of those without one. Where a schedule
 * says otherwise than its agent, its sessions are its own: nobody else goes on in them by itself.
 */
export function sessionRule(
  { session, schedules }: Pick<ResolvedAgent, "session" | "schedules">,
  schedule: string | null,
): { goesOn: boolean; ownOf: string | null } {
  const usual = session.mode === "persistent";
  const goesOn = (schedule === null ? undefined : schedules[schedule]?.resume_session) ?? usual;
  return { goesOn, ownOf: goesOn === usual ? null : schedule };
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
  if (isExpired(known, facts.now))
    return { kind: "fresh", because: "the last session has expired" };
  if (known.cwd !== facts.cwd)
    return { kind: "fresh", because: "the last session worked in another folder" };
  if (!facts.transcriptExists)
    return { kind: "fresh", because: "the transcript of the last session is gone" };
  return { kind: "resume", sessionId: known.session_id, ifBusy: "fork" };
}

function refuse(
  { known, place, transcriptExists }: SessionFacts,
  id: string,
): SessionPlan | undefined {
  if (known && known.place !== place) {
    return {
      kind: "refuse",
      message: `session ${id} was made by \`${known.place}\` and can only be resumed there`,
      hint: `Resume it with an agent that runs by \`${known.place}\`, or start a fresh session.`,
    };
  }
  if (transcriptExists) return undefined;
  return {
    kind: "refuse",
    message: `there is no session ${id} in the agent's working directory`,
    hint: "Run `herdctl sessions` to see what can be resumed.",
  };
}
