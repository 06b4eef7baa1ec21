import { UserError } from "../errors/user-error.ts";
import type { StateManager } from "../state/state-manager.ts";

/** Whose session it is, named by itself or by a job that ran in it. */
export async function agentOfSession(state: StateManager, sessionOrJob: string): Promise<string> {
  const owner = (await state.jobs.get(sessionOrJob)) ?? (await state.sessions.get(sessionOrJob));
  if (owner) return owner.agent;
  throw new UserError("session_not_found", `there is no session or job ${sessionOrJob}`);
}
