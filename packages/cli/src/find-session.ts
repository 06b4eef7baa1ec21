import type { StateManager } from "@herdctl/core";
import { isAlive } from "@herdctl/core/internal";
import { type Job, type Session, UserError } from "@herdctl/protocol";
import { findJobIfAny } from "./find-job.ts";

export interface FoundSession {
  session: Session;
  /** The credential of its last job. */
  credential: Job["credential"];
}

/** The session with this ID, or of the job with this ID; a unique prefix is enough. */
export async function findSession(state: StateManager, idPrefix: string): Promise<FoundSession> {
  const session = (await findBySessionId(state, idPrefix)) ?? (await findByJob(state, idPrefix));
  if (!session) throw new UserError("session_not_found", `there is no session ${idPrefix}`);
  await assertNotBusy(state, session);
  const job = session.job_id === null ? undefined : await state.jobs.get(session.job_id);
  return { session, credential: job?.credential ?? null };
}

async function findBySessionId(
  state: StateManager,
  idPrefix: string,
): Promise<Session | undefined> {
  const exact = await state.sessions.get(idPrefix);
  if (exact || idPrefix === "") return exact;
  const all = await state.sessions.list();
  const matches = all.filter((one) => one.session_id.startsWith(idPrefix));
  if (matches.length <= 1) return matches[0];
  const ids = matches.map((one) => one.session_id).join(", ");
  throw new UserError("session_not_found", `several sessions begin with ${idPrefix}`, {
    hint: `Type more characters of one of these IDs: ${ids}.`,
  });
}

async function findByJob(state: StateManager, idPrefix: string): Promise<Session | undefined> {
  const job = await findJobIfAny(state, idPrefix);
  if (!job) return undefined;
  const session = job.session_id === null ? undefined : await state.sessions.get(job.session_id);
  if (session) return session;
  throw new UserError("session_not_found", `${job.id} has no session to resume`);
}

/** Claude Code does not lock sessions: two writers would silently split the conversation. */
async function assertNotBusy(state: StateManager, { session_id }: Session): Promise<void> {
  const unfinished = await state.jobs.listUnfinished();
  const writer = unfinished.find(
    ({ session_id: id, runner }) => id === session_id && runner !== null && isAlive(runner),
  );
  if (!writer) return;
  throw new UserError("session_unavailable", `${writer.id} is using session ${session_id}`, {
    hint: `Wait for the job to end, or fork the session: \`herdctl trigger ${writer.agent} --fork ${session_id}\`.`,
  });
}
