import {
  type AcceptedDelivery,
  type Admission,
  type Approval,
  type ApprovalDecision,
  type AuditDetails,
  type BudgetAmounts,
  type BudgetView,
  type CreatedToken,
  type Delivery,
  type HookRun,
  type Job,
  type NewAccessToken,
  type ScheduleRef,
  type ScheduleView,
  type ShutdownOptions,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";
import { today } from "../jobs/admission/budget.ts";
import { triggerJob } from "../jobs/admission/trigger-job.ts";
import { cancelJob } from "../jobs/attempts/cancel-job.ts";
import type { AdmissionResult } from "../store/model/admission.ts";
import type { Actor } from "../store/model/identity.ts";
import type { StateManager } from "../store/state-manager.ts";
import { removeAgentSchedule, setScheduleEnabled } from "../triggers/schedules/change-schedule.ts";
import type { AuditedAction } from "./audit-log-writer.ts";
import type { FleetLifecycle } from "./lifecycle.ts";
import { viewBudget } from "./views/budget.ts";
import type { FleetWebhooks } from "./webhooks.ts";

/** All actions that change something, done by one actor and recorded in the audit log. */
export class FleetActions {
  constructor(
    private readonly lifecycle: FleetLifecycle,
    private readonly webhooks: FleetWebhooks,
    readonly actor: Actor,
  ) {}

  async trigger(request: TriggerRequest): Promise<Admission> {
    const { job, created } = await this.triggerWithDelivery(request);
    return { job, created };
  }

  /** Stores the delivery of a webhook and its job in one transaction. */
  triggerWithDelivery(
    request: TriggerRequest,
    delivery?: AcceptedDelivery,
  ): Promise<AdmissionResult> {
    const { agent, schedule = null, trigger } = request;
    const action = { action: "job.trigger" as const, details: { agent, schedule, trigger } };
    const admit = () =>
      this.lifecycle.withServices(async (services) => {
        if (this.lifecycle.acceptsWork) return triggerJob(services, request, delivery, this.actor);
        throw new UserError("fleet_unreachable", "the fleet is stopping and accepts no new work");
      });
    return this.perform(action, admit, ({ job, created }) => ({
      target: job.id,
      details: { created, status: job.status },
    }));
  }

  /** Continues a session, or a copy of it. */
  continue(
    sessionOrJob: string,
    options: Pick<TriggerRequest, "prompt" | "resume" | "fork" | "forkAt">,
  ): Promise<Admission> {
    return this.lifecycle.withServices(async ({ state }) => {
      const agent = await agentOfSession(state, sessionOrJob);
      return this.trigger({ trigger: "manual", agent, ...options });
    });
  }

  cancel(jobId: string, { force = false }: { force?: boolean } = {}): Promise<Job> {
    const action = { action: "job.cancel" as const, target: jobId, details: { force } };
    const cancel = () =>
      this.lifecycle.withServices((services) => cancelJob(services, jobId, force));
    return this.perform(action, cancel, ({ agent }) => ({ details: { agent } }));
  }

  answer(
    approvalId: string,
    decision: ApprovalDecision,
    note?: string,
    reason?: string,
  ): Promise<Approval> {
    const actor =
      note === undefined ? this.actor : /* defence: authenticated-actor */ { ...this.actor, note };
    const answer = () =>
      this.lifecycle.withServices(({ pendingApprovals }) =>
        pendingApprovals.answer(approvalId, decision, actor, reason),
      );
    const action = { action: "approval.answer" as const, target: approvalId };
    return this.lifecycle.audit.perform(actor, action, answer, ({ answer, job_id, tool }) => ({
      details: { answer, job: job_id, tool },
    }));
  }

  pauseAgent(agent: string): Promise<void> {
    return this.perform({ action: "agent.pause", target: agent }, () =>
      this.lifecycle.withServices(({ pauses }) => pauses.pause(this.lifecycle.agent(agent))),
    );
  }

  resumeAgent(agent: string): Promise<void> {
    return this.perform({ action: "agent.resume", target: agent }, () =>
      this.lifecycle.withServices(async ({ pauses, dispatcher }) => {
        await pauses.lift(this.lifecycle.agent(agent));
        dispatcher.wake();
      }),
    );
  }

  replay(deliveryId: string): Promise<Delivery> {
    const replay = () =>
      this.lifecycle.withServices(() => this.webhooks.receiver.replay(deliveryId, this.actor));
    const action = { action: "delivery.replay" as const, target: deliveryId };
    return this.perform(action, replay, ({ job_id, agent }) => ({
      details: { job: job_id, agent },
    }));
  }

  switchSchedule(name: ScheduleRef, enabled: boolean): Promise<ScheduleView> {
    const action = { action: "schedule.switch" as const, details: { enabled } };
    return this.perform({ ...action, target: scheduleTarget(name) }, () =>
      this.lifecycle.withServices((services) => setScheduleEnabled(services, name, enabled)),
    );
  }

  removeSchedule(name: ScheduleRef): Promise<void> {
    return this.perform({ action: "schedule.remove", target: scheduleTarget(name) }, () =>
      this.lifecycle.withServices((services) => removeAgentSchedule(services, name)),
    );
  }

  raiseBudget(agent: string | undefined, amounts: Partial<BudgetAmounts>): Promise<BudgetView> {
    const raised: AuditDetails = { ...amounts };
    const action = { action: "budget.raise" as const, target: agent, details: raised };
    return this.perform(action, () =>
      this.lifecycle.withServices(async ({ state, fleet, budgets }) => {
        const name = agent === undefined ? undefined : this.lifecycle.agent(agent).name;
        await state.budgets.raise(today(fleet()), name, amounts);
        budgets.refresh();
        return viewBudget(fleet(), state, new Date());
      }),
    );
  }

  retryHook(id: string): Promise<HookRun> {
    return this.perform({ action: "hook.retry", target: id }, () =>
      this.lifecycle.withServices(async ({ state, hooks }) => {
        const run = await state.hooks.retry(id);
        hooks.wake();
        return run;
      }),
    );
  }

  createToken(newToken: NewAccessToken): Promise<CreatedToken> {
    return this.lifecycle.access.createToken(newToken, this.actor);
  }

  revokeToken(name: string): Promise<void> {
    return this.lifecycle.access.revokeToken(name, this.actor);
  }

  endLogin(id: string): Promise<void> {
    return this.lifecycle.access.endLogin(id, this.actor);
  }

  endAllLogins(): Promise<number> {
    return this.lifecycle.access.endAllLogins(this.actor);
  }

  reload(): Promise<void> {
    return this.perform({ action: "fleet.reload" }, () => this.lifecycle.reload(true, this.actor));
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.lifecycle.shutdown(options, this.actor);
  }

  private perform<T>(
    action: AuditedAction,
    work: () => Promise<T>,
    describe?: (result: T) => Pick<AuditedAction, "target" | "details">,
  ): Promise<T> {
    return this.lifecycle.audit.perform(this.actor, action, work, describe);
  }
}

function scheduleTarget({ agent, schedule }: ScheduleRef): string {
  return `${agent}/${schedule}`;
}

/** The agent of a session, which is given by its id or by a job that ran in it. */
async function agentOfSession(state: StateManager, sessionOrJob: string): Promise<string> {
  const owner = (await state.jobs.get(sessionOrJob)) ?? (await state.sessions.get(sessionOrJob));
  if (owner) return owner.agent;
  throw new UserError("session_not_found", `there is no session or job ${sessionOrJob}`);
}
