import {
  type Admission,
  type SessionsApi,
  type SessionView,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";
import type { StateManager } from "../../store/state-manager.ts";
import { viewSession } from "../views/sessions.ts";
import type { FleetContext } from "./fleet-context.ts";
import type { FleetJobs } from "./jobs.ts";

export class FleetSessions implements SessionsApi {
  constructor(
    private readonly context: FleetContext,
    private readonly jobs: FleetJobs,
  ) {}

  list(query: { agent?: string } = {}): Promise<SessionView[]> {
    return this.context.read(async ({ state, environment, nodes }) => {
      const found = await state.sessions.list(query);
      const now = new Date();
      return found.map((session) => viewSession(session, environment(), now, nodes?.id));
    });
  }

  resume(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.triggerOwner(sessionOrJob, { prompt, resume: sessionOrJob });
  }

  fork(
    sessionOrJob: string,
    prompt: string,
    { forkPoint }: { forkPoint?: string } = {},
  ): Promise<Admission> {
    return this.triggerOwner(sessionOrJob, { prompt, fork: sessionOrJob, forkPoint });
  }

  private async triggerOwner(
    sessionOrJob: string,
    request: Omit<TriggerRequest, "agent">,
  ): Promise<Admission> {
    const agent = await this.context.read(({ state }) => agentOfSession(state, sessionOrJob));
    return this.jobs.trigger({ agent, ...request });
  }
}

/** The agent of a session, which is given by its ID or by a job that ran in it. */
async function agentOfSession(state: StateManager, sessionOrJob: string): Promise<string> {
  const owner = (await state.jobs.get(sessionOrJob)) ?? (await state.sessions.get(sessionOrJob));
  if (owner) return owner.agent;
  throw new UserError("session_not_found", `there is no session or job ${sessionOrJob}`);
}
