import { UserError } from "../errors/user-error.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import type { Admitted } from "../state/admission.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { AuditDetails } from "../state/audit.ts";
import type { Delivery, WantedDelivery } from "../state/delivery.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { Actor } from "../state/identity.ts";
import type { Job } from "../state/job.ts";
import type { Amounts } from "../state/spending.ts";
import { agentOfSession } from "./agent-of-session.ts";
import type { AuditedAction } from "./audit.ts";
import { type BudgetView, today, viewBudget } from "./budget-view.ts";
import { cancelJob } from "./cancel-job.ts";
import type { ShutdownOptions } from "./control.ts";
import type { CreatedToken, NewAccessToken } from "./fleet-access.ts";
import type { FleetLife } from "./fleet-life.ts";
import type { FleetWebhooks } from "./fleet-webhooks.ts";
import { removePlan } from "./remove-plan.ts";
import type { ScheduleView } from "./schedule-view.ts";
import { switchSchedule } from "./switch-schedule.ts";
import { triggerJob } from "./trigger-job.ts";

/** Everything that changes something, done by one actor and recorded in the audit log. */
export class FleetActions {
  constructor(
    private readonly life: FleetLife,
    private readonly webhooks: FleetWebhooks,
    readonly actor: Actor,
  ) {}

  trigger(request: TriggerRequest): Promise<Admission> {
    return this.take(request);
  }

  /** With the delivery of a webhook: its record and the job are one transaction. */
  take(request: TriggerRequest, delivery?: WantedDelivery): Promise<Admitted> {
    const { agent, schedule = null, trigger } = request;
    const action = { action: "job.trigger" as const, details: { agent, schedule, trigger } };
    const admit = () =>
      this.life.ask(async (parts) => {
        if (this.life.takesWork) return triggerJob(parts, request, delivery, this.actor);
        throw new UserError("fleet_unreachable", "the fleet is stopping and takes no new work");
      });
    return this.perform(action, admit, ({ job, created }) => ({
      target: job.id,
      details: { created, status: job.status },
    }));
  }

  /** Goes on with a session, or with a copy of it. */
  continue(
    sessionOrJob: string,
    wish: Pick<TriggerRequest, "prompt" | "resume" | "fork" | "forkAt">,
  ): Promise<Admission> {
    return this.life.ask(async ({ state }) => {
      const agent = await agentOfSession(state, sessionOrJob);
      return this.trigger({ trigger: "manual", agent, ...wish });
    });
  }

  cancel(jobId: string, { force = false }: { force?: boolean } = {}): Promise<Job> {
    const action = { action: "job.cancel" as const, target: jobId, details: { force } };
    const cancel = () => this.life.ask((parts) => cancelJob(parts, jobId, force));
    return this.perform(action, cancel, ({ agent }) => ({ details: { agent } }));
  }

  answer(approvalId: string, word: Word, note?: string, reason?: string): Promise<Approval> {
    const actor = note === undefined ? this.actor : { ...this.actor, note };
    const answer = () =>
      this.life.ask(({ board }) => board.answer(approvalId, word, actor, reason));
    const action = { action: "approval.answer" as const, target: approvalId };
    return this.life.audit.perform(actor, action, answer, ({ answer: given, job_id, tool }) => ({
      details: { answer: given, job: job_id, tool },
    }));
  }

  pauseAgent(agent: string): Promise<void> {
    return this.perform({ action: "agent.pause", target: agent }, () =>
      this.life.ask(({ pauses }) => pauses.pause(this.life.agent(agent))),
    );
  }

  resumeAgent(agent: string): Promise<void> {
    return this.perform({ action: "agent.resume", target: agent }, () =>
      this.life.ask(async ({ pauses, dispatcher }) => {
        await pauses.lift(this.life.agent(agent));
        dispatcher.kick();
      }),
    );
  }

  replay(deliveryId: string): Promise<Delivery> {
    const replay = () => this.life.ask(() => this.webhooks.door.replay(deliveryId, this.actor));
    const action = { action: "delivery.replay" as const, target: deliveryId };
    return this.perform(action, replay, ({ job_id, agent }) => ({
      details: { job: job_id, agent },
    }));
  }

  switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView> {
    const action = { action: "schedule.switch" as const, details: { enabled } };
    return this.perform({ ...action, target: targetOf(name) }, () =>
      this.life.ask((parts) => switchSchedule(parts, name, enabled)),
    );
  }

  removeSchedule(name: ScheduleName): Promise<void> {
    return this.perform({ action: "schedule.remove", target: targetOf(name) }, () =>
      this.life.ask((parts) => removePlan(parts, name)),
    );
  }

  raiseBudget(agent: string | undefined, by: Partial<Amounts>): Promise<BudgetView> {
    const raised: AuditDetails = { ...by };
    const action = { action: "budget.raise" as const, target: agent, details: raised };
    return this.perform(action, () =>
      this.life.ask(async ({ state, context }) => {
        const name = agent === undefined ? undefined : this.life.agent(agent).name;
        await state.budgets.raise(today(context.fleet()), name, by);
        context.budgets.refresh();
        return viewBudget(context.fleet(), state, new Date());
      }),
    );
  }

  retryHook(id: string): Promise<HookRun> {
    return this.perform({ action: "hook.retry", target: id }, () =>
      this.life.ask(async ({ state, hooks }) => {
        const run = await state.hooks.retry(id);
        hooks.kick();
        return run;
      }),
    );
  }

  createToken(wanted: NewAccessToken): Promise<CreatedToken> {
    return this.life.access.createToken(wanted, this.actor);
  }

  revokeToken(name: string): Promise<void> {
    return this.life.access.revokeToken(name, this.actor);
  }

  endLogin(id: string): Promise<void> {
    return this.life.access.endLogin(id, this.actor);
  }

  endAllLogins(): Promise<number> {
    return this.life.access.endAllLogins(this.actor);
  }

  reload(): Promise<void> {
    return this.perform({ action: "fleet.reload" }, () => this.life.reload(true, this.actor));
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.life.shutdown(options, this.actor);
  }

  private perform<T>(
    action: AuditedAction,
    work: () => Promise<T>,
    describe?: (result: T) => Pick<AuditedAction, "target" | "details">,
  ): Promise<T> {
    return this.life.audit.perform(this.actor, action, work, describe);
  }
}

function targetOf({ agent, schedule }: ScheduleName): string {
  return `${agent}/${schedule}`;
}
