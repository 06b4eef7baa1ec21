import type { Approval } from "../state/approval.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { RunOrder } from "./run-order.ts";
import type { PermissionAnswer, PermissionRequest } from "./runtime/permission.ts";

/** Resolves with a person's word; aborted when the question is no longer asked. */
export type AskPerson = (approval: Approval, signal: AbortSignal) => Promise<"allow" | "deny">;

const defaultExpiry = 30 * 60_000;

/**
 * Turns a tool's request into a durable approval and waits for its answer. An approval is bound to
 * the exact request, is used once, and is denied when its time runs out; silence is never consent.
 */
export class ApprovalDesk {
  private waiting = 0;

  constructor(
    private readonly state: StateManager,
    private readonly order: RunOrder,
    private readonly askPerson: AskPerson | undefined,
    private readonly expiry = defaultExpiry,
  ) {}

  readonly answer = async (
    request: PermissionRequest,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> => {
    const { jobId: job_id, attempt } = this.order;
    const { tool, input } = request;
    const earlier = await this.state.approvals.useEarlier(job_id, tool, input);
    if (earlier) return { behavior: "allow", updatedInput: input };

    const expires_at = new Date(Date.now() + this.expiry).toISOString();
    const approval = await this.state.approvals.ask({ job_id, attempt, tool, input, expires_at });
    await this.setWaiting(+1);
    try {
      return await this.await(approval, request, signal);
    } finally {
      await this.setWaiting(-1);
    }
  };

  private async await(
    approval: Approval,
    request: PermissionRequest,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.expiry)]);
    const word = await this.wordOf(approval, limit);
    const by = this.askPerson ? "terminal" : "nobody was there to be asked";
    if (word !== undefined) await this.state.approvals.answer(approval.id, word, by);
    await this.state.approvals.expire();
    const isAllowed = await this.state.approvals.use(approval.id);
    if (isAllowed) return { behavior: "allow", updatedInput: request.input };
    const message =
      word === "deny" && this.askPerson ? "A person denied this." : "Nobody allowed this.";
    return { behavior: "deny", message };
  }

  private async wordOf(
    approval: Approval,
    limit: AbortSignal,
  ): Promise<"allow" | "deny" | undefined> {
    const aborted = new Promise<undefined>((resolve) => {
      limit.addEventListener("abort", () => resolve(undefined), { once: true });
      if (limit.aborted) resolve(undefined);
    });
    // With nobody there to be asked, waiting for an answer would only cost time.
    if (!this.askPerson) return "deny";
    return Promise.race([this.askPerson(approval, limit).catch(() => undefined), aborted]);
  }

  private async setWaiting(change: 1 | -1): Promise<void> {
    this.waiting += change;
    const status = this.waiting > 0 ? "waiting" : "running";
    await this.state.jobs.update(this.order.jobId, { status });
  }
}
