import {
  type AcceptedDelivery,
  type Admission,
  type AnswerOptions,
  type Approval,
  type ApprovalDecision,
  type ApprovalsApi,
  type CancelAllOptions,
  type CancelAllResult,
  type CancelOptions,
  formatPermissionRule,
  type Job,
  type JobOutput,
  type JobPage,
  type JobQuery,
  type JobSearchPage,
  type JobSearchQuery,
  type JobsApi,
  type JobWithAttempts,
  type OutputOptions,
  type RetryOptions,
  type RewindOptions,
  type RewindPoint,
  type RewindResult,
  type SessionsApi,
  type SessionView,
  type SignalOptions,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";
import { type JobRequest, toJobRequest } from "../../jobs/admission/admit.ts";
import { retryJob, tryJobNow } from "../../jobs/admission/retry-job.ts";
import { triggerJob } from "../../jobs/admission/trigger-job.ts";
import { cancelAgentJobs, cancelJob } from "../../jobs/attempts/cancel-job.ts";
import { waitForJob } from "../../jobs/attempts/wait-for-job.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { listRewindPoints, rewindJob } from "../rewind-job.ts";
import { streamJobOutput } from "../views/job-output.ts";
import { viewSession } from "../views/sessions.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetJobs implements JobsApi {
  constructor(private readonly context: FleetContext) {}

  async trigger(request: TriggerRequest): Promise<Admission> {
    const { job, created } = await this.admit(toJobRequest(request));
    return { job, created };
  }

  /** Admits a job of any trigger type. Stores a delivery and its job in one transaction. */
  admit(request: JobRequest, delivery?: AcceptedDelivery): Promise<AdmissionResult> {
    const { actor } = this.context;
    const { agent, schedule = null, trigger } = request;
    return this.context.perform(
      { action: "job.trigger", details: { agent, schedule, trigger } },
      async (services) => {
        this.requireAcceptsWork();
        return triggerJob(services, request, delivery, actor);
      },
      ({ job, created }) => ({ target: job.id, details: { created, status: job.status } }),
    );
  }

  get(jobId: string): Promise<JobWithAttempts | undefined> {
    return this.context.read(async ({ state }) => {
      const job = await state.jobs.get(jobId);
      return job && { job, attempts: await state.jobs.listAttempts(jobId) };
    });
  }

  list(query: JobQuery = {}): Promise<JobPage> {
    return this.context.read(({ state }) => state.jobs.list(query));
  }

  search(query: JobSearchQuery): Promise<JobSearchPage> {
    return this.context.read(({ state }) => state.search.search(query));
  }

  chain(jobId: string): Promise<Job[]> {
    return this.context.read(async ({ state }) => {
      const job = await state.jobs.get(jobId);
      if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
      return state.jobs.listChain(job.chain.id);
    });
  }

  wait(jobId: string, { signal }: SignalOptions = {}): Promise<Job> {
    return this.context.read(({ state, hub }) => waitForJob({ state, hub }, jobId, signal));
  }

  retry(jobId: string, { fresh = false }: RetryOptions = {}): Promise<Admission> {
    return this.context.perform(
      { action: "job.retry", target: jobId, details: { fresh } },
      async (services) => {
        this.requireAcceptsWork();
        return retryJob(services, jobId, fresh, this.context.actor);
      },
      ({ job }) => ({ details: { job: job.id, agent: job.agent } }),
    );
  }

  tryNow(jobId: string): Promise<Job> {
    return this.context.perform({ action: "job.try_now", target: jobId }, (services) =>
      tryJobNow(services, jobId),
    );
  }

  cancel(jobId: string, { force = false }: CancelOptions = {}): Promise<Job> {
    return this.context.perform(
      { action: "job.cancel", target: jobId, details: { force } },
      (services) => cancelJob(services, jobId, force),
      ({ agent }) => ({ details: { agent } }),
    );
  }

  cancelAll({ agent, force = false }: CancelAllOptions): Promise<CancelAllResult> {
    return this.context.perform(
      { action: "job.cancel_all", target: agent, details: { force } },
      (services) => cancelAgentJobs(services, this.context.lifecycle.agent(agent).name, force),
      (result) => ({ details: { ...result } }),
    );
  }

  rewindPoints(jobId: string): Promise<RewindPoint[]> {
    return this.context.read((services) => listRewindPoints(services, jobId));
  }

  rewind(jobId: string, options: RewindOptions = {}): Promise<RewindResult> {
    return this.context.perform(
      { action: "job.rewind", target: jobId },
      (services) => rewindJob(services, jobId, options),
      ({ session_id: session, point }) => ({ details: { session, message: point.message } }),
    );
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    const { hub, runningServices } = this.context.lifecycle;
    const { state, cluster } = runningServices;
    return streamJobOutput({ state, hub, cluster }, jobId, options);
  }

  private requireAcceptsWork(): void {
    if (this.context.lifecycle.acceptsWork) return;
    throw new UserError("fleet_unreachable", "the fleet is stopping and accepts no new work");
  }
}

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

export class FleetApprovals implements ApprovalsApi {
  constructor(private readonly context: FleetContext) {}

  list({ job }: { job?: string } = {}): Promise<Approval[]> {
    return this.context.read(({ state: { approvals } }) =>
      job === undefined ? approvals.listOpen() : approvals.listByJob(job),
    );
  }

  answer(
    approvalId: string,
    decision: ApprovalDecision,
    { note, reason }: AnswerOptions = {},
  ): Promise<Approval> {
    const caller = this.context.actor;
    const actor =
      note === undefined ? caller : /* defence: authenticated-actor */ { ...caller, note };
    return this.context.perform(
      { action: "approval.answer", target: approvalId },
      ({ pendingApprovals }) => pendingApprovals.answer(approvalId, decision, actor, reason),
      ({ answer, job_id, tool, scope, suggested_rules: rules }) => ({
        details: {
          ...{ answer, job: job_id, tool },
          ...(scope !== null &&
            scope !== "once" && { scope, rule: formatPermissionRule({ rules, tool }) }),
        },
      }),
      actor,
    );
  }
}
