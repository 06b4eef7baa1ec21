import type { Job, Session, StateManager } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { isAlive } from "@herdctl/core/state";
import { findJobIfAny } from "./find-job.ts";

export interface FoundSession {
  session: Session;
  /** What its last run was paid with. */
  credential: Job["credential"];
}

/** The session that is meant by its id, or by a job that ran in it, or by the beginning of either. */
export async function findSession(state: StateManager, typed: string): Promise<FoundSession> {
  const session = (await bySession(state, typed)) ?? (await byJob(state, typed));
  if (!session) throw new UserError("session_not_found", `there is no session ${typed}`);
  await refuseIfBusy(state, session);
  const job = session.job_id === null ? undefined : await state.jobs.get(session.job_id);
  return { session, credential: job?.credential ?? null };
}

async function bySession(state: StateManager, typed: string): Promise<Session | undefined> {
  const exact = await state.sessions.get(typed);
  if (exact || typed === "") return exact;
  const all = await state.sessions.list();
  const alike = all.filter((one) => one.session_id.startsWith(typed));
  if (alike.length <= 1) return alike[0];
  const ids = alike.map((one) => one.session_id).join(", ");
  throw new UserError("session_not_found", `several sessions begin with ${typed}`, {
    hint: `Type more of one of these: ${ids}.`,
  });
}

async function byJob(state: StateManager, typed: string): Promise<Session | undefined> {
  const job = await findJobIfAny(state, typed);
  if (!job) return undefined;
  const session = job.session_id === null ? undefined : await state.sessions.get(job.session_id);
  if (session) return session;
  throw new UserError("session_not_found", `${job.id} has no session to go on with`);
}

/** Claude Code has no lock of its own: two writers would split the conversation unseen. */
async function refuseIfBusy(state: StateManager, { session_id }: Session): Promise<void> {
  const unfinished = await state.jobs.unfinished();
  const writer = unfinished.find(
    ({ session_id: id, runner }) => id === session_id && runner !== null && isAlive(runner),
  );
  if (!writer) return;
  throw new UserError("session_unavailable", `${writer.id} is writing to session ${session_id}`, {
    hint: `Wait for it, or fork: \`herdctl trigger ${writer.agent} --fork ${session_id}\`.`,
  });
}
