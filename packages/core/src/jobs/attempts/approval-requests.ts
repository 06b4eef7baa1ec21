import { randomUUID } from "node:crypto";
import type { ResolvedAgent } from "@herdctl/config";
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  type Job,
  type Question,
  type Reply,
  type ToolRule,
  UserError,
} from "@herdctl/protocol";
import type { EventHub } from "../../lib/event-hub.ts";
import { waitForAbort, withTimeout } from "../../lib/timeout.ts";
import {
  approvalTimeoutMs,
  type PermissionAnswer,
  type PermissionRequest,
} from "../../runner/contract/messages.ts";
import { sessionPermissions } from "../../runner/contract/permission-rules.ts";
import { hashToolRequest } from "../../store/model/approval.ts";
import { type Actor, identities } from "../../store/model/identity.ts";
import { effectiveRules, findAllowance } from "../../store/model/permission-rules.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** Resolves with a person's decision. Aborted when the request is withdrawn. */
export type AskPerson = (approval: Approval, signal: AbortSignal) => Promise<ApprovalDecision>;

interface ApprovalCallbacks {
  /** The agent as it is configured now; without it, no rules apply. */
  agent?(): Pick<ResolvedAgent, "name" | "denied_tools"> | undefined;
  /** The job waits, or continues. */
  onJobChanged?(job: Job): void;
  /** The approval has expired. */
  onExpired?(approval: Approval): void;
}

type NewApproval = Omit<ApprovalRequest, "job_id" | "attempt"> & { request_id: string };

/**
 * Turns requests of a run into durable approvals and waits for their answers. An approval is bound
 * to the exact request, is used once, and expires. Silence is never consent.
 */
export class ApprovalRequests {
  private waitingCount = 0;

  constructor(
    private readonly state: StateManager,
    private readonly run: { jobId: string; attempt: number },
    private readonly askPerson: AskPerson | undefined,
    private readonly callbacks: ApprovalCallbacks = {},
  ) {}

  readonly answer = async (
    { tool, input, toolUseId: request_id, suggestedRules = [] }: PermissionRequest,
    signal: AbortSignal,
    expiresAt = new Date(Date.now() + approvalTimeoutMs),
  ): Promise<PermissionAnswer> => {
    const allowance = await this.findAllowance(tool, input, suggestedRules);
    if (allowance) return allowed(input, allowance);
    const expires_at = expiresAt.toISOString();
    const suggested_rules = [...suggestedRules];
    const newApproval = { request_id, tool, input, suggested_rules, expires_at };
    const { answer, reason, scope } = await this.resolveRequest(newApproval, signal);
    if (answer === "allow") return allowed(input, scope === "once" ? [] : suggestedRules);
    const isFromPerson = answer === "deny" && this.askPerson !== undefined;
    return {
      behavior: "deny",
      byPerson: isFromPerson,
      message: isFromPerson ? denialMessage(reason) : "No one allowed this.",
    };
  };

  readonly question = async (
    { tool, input, expires_at, question, choices, free_text, multiple, default_reply }: Question,
    signal: AbortSignal,
    request_id: string = randomUUID(),
  ): Promise<Reply> => {
    const facts = { question, choices, free_text, multiple, default_reply };
    const newApproval = { request_id, tool, input, expires_at, question: facts };
    const { answer, reply, reason } = await this.resolveRequest(newApproval, signal);
    if ((answer === "reply" || answer === "default") && reply !== null)
      return { kind: answer, text: reply };
    if (answer === "deny" && this.askPerson)
      return { kind: "none", why: "declined", reason: reason ?? undefined };
    if (answer === "deny") return { kind: "none", why: "nobody" };
    return { kind: "none", why: answer === "expired" ? "expired" : "withdrawn" };
  };

  /** The rules by which a request needs no person. */
  private async findAllowance(
    tool: string,
    input: unknown,
    suggestedRules: readonly ToolRule[],
  ): Promise<readonly ToolRule[] | undefined> {
    const agent = this.callbacks.agent?.();
    if (!agent) return undefined;
    const rules = await this.state.rules.listForRun(agent.name, this.run.jobId);
    const inputHash = hashToolRequest(tool, input);
    const effective = effectiveRules(rules, agent.denied_tools);
    return findAllowance(effective, { inputHash, suggestedRules });
  }

  /** Resolves with the approval once it is answered, expired or withdrawn. */
  private async resolveRequest(newApproval: NewApproval, signal: AbortSignal): Promise<Approval> {
    const { approvals } = this.state;
    const known = await approvals.findByRequest(this.run.jobId, newApproval.request_id);
    // The runner asks again: the request was answered, but the answer did not arrive.
    if (known && known.answer !== null) {
      await approvals.consume(known.id);
      return known;
    }
    const earlier = await approvals.consumeEarlier(
      this.run.jobId,
      newApproval.tool,
      newApproval.input,
    );
    if (earlier) return earlier;

    const approval =
      known ?? (await this.findOpenWithoutId(newApproval)) ?? (await this.open(newApproval));
    await this.adjustWaiting(+1);
    try {
      return await this.awaitDecision(approval, signal);
    } finally {
      await this.adjustWaiting(-1);
    }
  }

  /** Approvals that older versions recorded have no request id. */
  private async findOpenWithoutId({ tool, input }: NewApproval): Promise<Approval | undefined> {
    const hash = hashToolRequest(tool, input);
    const open = await this.state.approvals.listOpen(this.run.jobId);
    return open.find(
      ({ input_hash, attempt, request_id }) =>
        request_id === null && input_hash === hash && attempt === this.run.attempt,
    );
  }

  private open(newApproval: NewApproval): Promise<Approval> {
    const { jobId: job_id, attempt } = this.run;
    return this.state.approvals.create({ job_id, attempt, ...newApproval });
  }

  private async awaitDecision(approval: Approval, signal: AbortSignal): Promise<Approval> {
    const remainingMs = Math.max(0, Date.parse(approval.expires_at) - Date.now());
    const decision = await withTimeout(signal, remainingMs + timerSlackMs, (limit) =>
      this.requestDecision(approval, limit),
    );
    if (decision !== undefined) await this.recordDecision(approval, decision);
    for (const expired of await this.state.approvals.expire()) this.callbacks.onExpired?.(expired);
    const isUsed = await this.state.approvals.consume(approval.id);
    const current = (await this.state.approvals.get(approval.id)) ?? approval;
    // An identical request may have consumed the approval.
    const isUsedElsewhere = !isUsed && (current.answer === "allow" || current.answer === "reply");
    return isUsedElsewhere ? { ...current, answer: "void", reply: null } : current;
  }

  private async recordDecision({ id }: Approval, decision: ApprovalDecision): Promise<void> {
    const { approvals } = this.state;
    const [by, note] = this.askPerson
      ? [identities.user(), undefined]
      : [identities.system, "no person could be asked"];
    try {
      await approvals.answer(id, decision, by, undefined, note);
    } catch (error) {
      // A decision that does not fit the request counts as a denial.
      if (!(error instanceof UserError)) throw error;
      await approvals.answer(id, "deny", by, undefined, note);
    }
  }

  private async requestDecision(
    approval: Approval,
    limit: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    // If no one can be asked, waiting for an answer only costs time.
    if (!this.askPerson) return "deny";
    const decision = this.askSafely(approval, limit);
    return Promise.race([decision, waitForAbort(limit).then(() => undefined)]);
  }

  /** A person who cannot be asked does not consent. */
  private async askSafely(approval: Approval, limit: AbortSignal) {
    try {
      return await this.askPerson?.(approval, limit);
    } catch {
      return "deny";
    }
  }

  get isWaiting(): boolean {
    return this.waitingCount > 0;
  }

  private async adjustWaiting(change: 1 | -1): Promise<void> {
    this.waitingCount += change;
    const known = await this.state.jobs.get(this.run.jobId);
    const isWaiting = this.isWaiting || (known?.waits_for ?? []).length > 0;
    const status = isWaiting ? "waiting" : "running";
    const { job } = await this.state.jobs.update(this.run.jobId, { status });
    this.callbacks.onJobChanged?.(job);
  }
}

function allowed(
  updatedInput: Record<string, unknown>,
  rules: readonly ToolRule[],
): PermissionAnswer {
  return {
    ...{ behavior: "allow", updatedInput },
    ...(rules.length > 0 && { updatedPermissions: sessionPermissions(rules) }),
  };
}

function denialMessage(reason: string | null): string {
  return reason ? `A person denied this: ${reason}` : "A person denied this.";
}

/** Timers may fire slightly early, before the approval has expired. */
const timerSlackMs = 20;

/** Open approvals, until someone answers them from any channel. */
export class PendingApprovals {
  private readonly resolvers = new Map<string, (decision: ApprovalDecision) => void>();

  constructor(
    private readonly state: StateManager,
    private readonly hub: EventHub,
  ) {
    // Also emitted if another node recorded the answer.
    hub.on("approval:answered", ({ approval }) => this.resolveWaiter(approval));
    hub.onEventsMissed(() => void this.recheckAll());
  }

  readonly ask: AskPerson = (approval, signal) =>
    new Promise((resolve, reject) => {
      this.resolvers.set(approval.id, resolve);
      const withdraw = () => {
        this.resolvers.delete(approval.id);
        reject(new Error("the request was withdrawn"));
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.hub.emit({ type: "approval:requested", approval });
    });

  /** The answer is durable before it takes effect. */
  async answer(
    id: string,
    decision: ApprovalDecision,
    by: Actor,
    reason?: string,
  ): Promise<Approval> {
    const { identity, note } = by;
    const { approvals } = this.state;
    const { applied, approval } = await approvals.answer(id, decision, identity, reason, note);
    if (!applied) {
      const closedAs = approval.answer ?? "withdrawn";
      throw new UserError("approval_closed", `this request is already closed: ${closedAs}`);
    }
    this.hub.emit({ type: "approval:answered", approval });
    return approval;
  }

  private resolveWaiter(approval: Approval): void {
    const decision = decisionOf(approval);
    // Expired and withdrawn approvals have no decision; their own timer ends them.
    if (decision === undefined) return;
    this.resolvers.get(approval.id)?.(decision);
    this.resolvers.delete(approval.id);
  }

  private async recheckAll(): Promise<void> {
    for (const id of [...this.resolvers.keys()]) {
      const approval = await this.state.approvals.get(id).catch(() => undefined);
      if (approval) this.resolveWaiter(approval);
    }
  }
}

function decisionOf({ answer, reply }: Approval): ApprovalDecision | undefined {
  if (answer === "allow" || answer === "deny") return answer;
  return answer === "reply" && reply !== null ? { reply } : undefined;
}
