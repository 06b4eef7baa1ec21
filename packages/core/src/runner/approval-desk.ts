import { type Approval, hashRequest } from "../state/approval.ts";
import type { Job } from "../state/job.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { PermissionAnswer, PermissionRequest } from "./runtime/permission.ts";

/** Resolves with a person's word; aborted when the question is no longer asked. */
export type AskPerson = (approval: Approval, signal: AbortSignal) => Promise<"allow" | "deny">;

export const approvalExpiry = 30 * 60_000;

/**
 * Turns a tool's request into a durable approval and waits for its answer. An approval is bound to
 * the exact request, is used once, and is denied when its time runs out; silence is never consent.
 */
export class ApprovalDesk {
  private waiting = 0;

  constructor(
    private readonly state: StateManager,
    private readonly run: { jobId: string; attempt: number },
    private readonly askPerson: AskPerson | undefined,
    private readonly onChange: (job: Job) => void = () => undefined,
  ) {}

  readonly answer = async (
    request: PermissionRequest,
    signal: AbortSignal,
    expiresAt = new Date(Date.now() + approvalExpiry),
  ): Promise<PermissionAnswer> => {
    const { tool, input } = request;
    const earlier = await this.state.approvals.useEarlier(this.run.jobId, tool, input);
    if (earlier) return { behavior: "allow", updatedInput: input };

    const approval = (await this.stillOpen(request)) ?? (await this.open(request, expiresAt));
    await this.setWaiting(+1);
    try {
      return await this.await(approval, request, signal);
    } finally {
      await this.setWaiting(-1);
    }
  };

  /** A runner asks again whoever comes back to it; the question on record is the same one. */
  private async stillOpen({ tool, input }: PermissionRequest): Promise<Approval | undefined> {
    const hash = hashRequest(tool, input);
    const open = await this.state.approvals.open(this.run.jobId);
    return open.find((one) => one.input_hash === hash && one.attempt === this.run.attempt);
  }

  private open({ tool, input }: PermissionRequest, expiresAt: Date): Promise<Approval> {
    const { jobId: job_id, attempt } = this.run;
    return this.state.approvals.ask({
      job_id,
      attempt,
      tool,
      input,
      expires_at: expiresAt.toISOString(),
    });
  }

  private async await(
    approval: Approval,
    request: PermissionRequest,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const left = Math.max(0, Date.parse(approval.expires_at) - Date.now());
    const word = await this.wordOf(approval, AbortSignal.any([signal, AbortSignal.timeout(left)]));
    const by = this.askPerson ? "terminal" : "nobody was there to be asked";
    if (word !== undefined) await this.state.approvals.answer(approval.id, word, by);
    await this.state.approvals.expire();
    const isAllowed = await this.state.approvals.use(approval.id);
    if (isAllowed) return { behavior: "allow", updatedInput: request.input };
    const isPersons = word === "deny" && this.askPerson !== undefined;
    const reason = (await this.state.approvals.get(approval.id))?.reason;
    return { behavior: "deny", message: isPersons ? denial(reason) : "Nobody allowed this." };
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
    this.onChange((await this.state.jobs.update(this.run.jobId, { status })).job);
  }
}

function denial(reason: string | null | undefined): string {
  return reason ? `A person denied this: ${reason}` : "A person denied this.";
}
