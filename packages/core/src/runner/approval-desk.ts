import { randomUUID } from "node:crypto";
import { UserError } from "../errors/user-error.ts";
import { type Approval, type ApprovalRequest, hashRequest, type Word } from "../state/approval.ts";
import { identities } from "../state/identity.ts";
import type { Job } from "../state/job.ts";
import type { Question, Reply } from "../state/question.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { PermissionAnswer, PermissionRequest } from "./runtime/permission.ts";
import { withinTime } from "./within-time.ts";

/** Resolves with a person's word; aborted when it is no longer asked for. */
export type AskPerson = (approval: Approval, signal: AbortSignal) => Promise<Word>;

export const approvalExpiry = 30 * 60_000;

export interface DeskEvents {
  /** The job waits, or goes on. */
  onChange?(job: Job): void;
  /** Its time is over. */
  onLapsed?(approval: Approval): void;
}

type Asked = Omit<ApprovalRequest, "job_id" | "attempt"> & { request_id: string };

/**
 * Turns what a run asks into a durable approval and waits for its answer. An approval is bound to
 * the exact request, is used once, and ends when its time runs out; silence is never consent.
 */
export class ApprovalDesk {
  private waiting = 0;

  constructor(
    private readonly state: StateManager,
    private readonly run: { jobId: string; attempt: number },
    private readonly askPerson: AskPerson | undefined,
    private readonly events: DeskEvents = {},
  ) {}

  readonly answer = async (
    { tool, input, toolUseId: request_id }: PermissionRequest,
    signal: AbortSignal,
    expiresAt = new Date(Date.now() + approvalExpiry),
  ): Promise<PermissionAnswer> => {
    const expires_at = expiresAt.toISOString();
    const asked = { request_id, tool, input, expires_at };
    const { answer, reason } = await this.settle(asked, signal);
    if (answer === "allow") return { behavior: "allow", updatedInput: input };
    const isPersons = answer === "deny" && this.askPerson !== undefined;
    return { behavior: "deny", message: isPersons ? denial(reason) : "Nobody allowed this." };
  };

  readonly question = async (
    { tool, input, expires_at, question, choices, free_text, several, default_reply }: Question,
    signal: AbortSignal,
    request_id: string = randomUUID(),
  ): Promise<Reply> => {
    const facts = { question, choices, free_text, several, default_reply };
    const asked = { request_id, tool, input, expires_at, question: facts };
    const { answer, reply, reason } = await this.settle(asked, signal);
    if ((answer === "reply" || answer === "default") && reply !== null)
      return { kind: answer, text: reply };
    if (answer === "deny" && this.askPerson)
      return { kind: "none", why: "declined", reason: reason ?? undefined };
    if (answer === "deny") return { kind: "none", why: "nobody" };
    return { kind: "none", why: answer === "expired" ? "expired" : "withdrawn" };
  };

  /** The approval as it stands when nothing more is awaited. */
  private async settle(asked: Asked, signal: AbortSignal): Promise<Approval> {
    const { approvals } = this.state;
    const known = await approvals.ofRequest(this.run.jobId, asked.request_id);
    // The runner asks again: an answer was given, and lost on its way.
    if (known && known.answer !== null) {
      await approvals.use(known.id);
      return known;
    }
    const earlier = await approvals.useEarlier(this.run.jobId, asked.tool, asked.input);
    if (earlier) return earlier;

    const approval = known ?? (await this.stillOpen(asked)) ?? (await this.open(asked));
    await this.setWaiting(+1);
    try {
      return await this.await(approval, signal);
    } finally {
      await this.setWaiting(-1);
    }
  }

  /** What an older version put on record says nothing of the request's id. */
  private async stillOpen({ tool, input }: Asked): Promise<Approval | undefined> {
    const hash = hashRequest(tool, input);
    const open = await this.state.approvals.open(this.run.jobId);
    return open.find(
      ({ input_hash, attempt, request_id }) =>
        request_id === null && input_hash === hash && attempt === this.run.attempt,
    );
  }

  private open(asked: Asked): Promise<Approval> {
    const { jobId: job_id, attempt } = this.run;
    return this.state.approvals.ask({ job_id, attempt, ...asked });
  }

  private async await(approval: Approval, signal: AbortSignal): Promise<Approval> {
    const left = Math.max(0, Date.parse(approval.expires_at) - Date.now());
    const word = await withinTime(signal, left + justLate, (limit) => this.wordOf(approval, limit));
    if (word !== undefined) await this.record(approval, word);
    for (const lapsed of await this.state.approvals.expire()) this.events.onLapsed?.(lapsed);
    const isUsed = await this.state.approvals.use(approval.id);
    const now = (await this.state.approvals.get(approval.id)) ?? approval;
    // An identical request may have used up what was given here.
    const isSpent = !isUsed && (now.answer === "allow" || now.answer === "reply");
    return isSpent ? { ...now, answer: "void", reply: null } : now;
  }

  private async record({ id }: Approval, word: Word): Promise<void> {
    const { approvals } = this.state;
    const [by, note] = this.askPerson
      ? [identities.user(), undefined]
      : [identities.system, "nobody was there to be asked"];
    try {
      await approvals.answer(id, word, by, undefined, note);
    } catch (error) {
      // A word that answers something else is none.
      if (!(error instanceof UserError)) throw error;
      await approvals.answer(id, "deny", by, undefined, note);
    }
  }

  private async wordOf(approval: Approval, limit: AbortSignal): Promise<Word | undefined> {
    const aborted = new Promise<undefined>((resolve) => {
      limit.addEventListener("abort", () => resolve(undefined), { once: true });
      if (limit.aborted) resolve(undefined);
    });
    // With nobody there to be asked, waiting for an answer would only cost time.
    if (!this.askPerson) return "deny";
    return Promise.race([this.askPerson(approval, limit).catch(() => undefined), aborted]);
  }

  get isWaiting(): boolean {
    return this.waiting > 0;
  }

  private async setWaiting(change: 1 | -1): Promise<void> {
    this.waiting += change;
    const known = await this.state.jobs.get(this.run.jobId);
    const isWaiting = this.isWaiting || (known?.waits_for ?? []).length > 0;
    const status = isWaiting ? "waiting" : "running";
    const { job } = await this.state.jobs.update(this.run.jobId, { status });
    this.events.onChange?.(job);
  }
}

function denial(reason: string | null): string {
  return reason ? `A person denied this: ${reason}` : "A person denied this.";
}

/** Timers may end a moment early, and then nothing would be late yet. */
const justLate = 20;
