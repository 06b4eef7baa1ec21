import type { ApprovalDesk } from "../runner/approval-desk.ts";
import type { RunReport } from "../runner/run-report.ts";
import type { Amount, SpendLimit } from "../runner/spend-plan.ts";
import type { ApprovalAsked, ErrandAsked } from "../runner-process/contract.ts";
import { readReport } from "../runner-process/recover.ts";
import { connectRunner, type RunnerLink } from "../runner-process/runner-link.ts";
import type { ErrandAnswer } from "../state/errand.ts";
import type { Question } from "../state/question.ts";
import { aborted } from "./process-gone.ts";

export type StopReason = "cancelled" | "interrupted";

/** Undefined when this fleet process has no answer. */
export type RunErrand = (
  asked: ErrandAsked,
  signal: AbortSignal,
) => Promise<ErrandAnswer | undefined>;

const tryFor = 200;

/** Our end of the line to a runner: it brings questions, and takes answers and the word to stop. */
export class RunnerDesk {
  private readonly closing = new AbortController();
  private readonly asked = new Map<string, AbortController>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly connecting: Promise<void>;
  private tell: (report: RunReport) => void = () => undefined;
  /** Resolves when the runner has left its outcome, which it may do without exiting. */
  readonly told = new Promise<RunReport>((resolve) => {
    this.tell = resolve;
  });
  private isTold = false;
  private link: RunnerLink | undefined;
  private limits: readonly SpendLimit[] | undefined;
  private wanted: { reason: StopReason; force: boolean } | undefined;

  constructor(
    private readonly run: { jobDir: string; attempt: number },
    private readonly approvals: ApprovalDesk,
    private readonly runErrand: RunErrand,
    private readonly onTrouble: (error: unknown) => void,
    private readonly onSpending: (spent: Amount) => void = () => undefined,
  ) {
    this.connecting = this.connect();
  }

  stop(reason: StopReason, force: boolean): void {
    this.wanted = { reason, force };
    this.link?.stop(reason, force);
  }

  /** Also said to a runner that connects again. */
  setSpendLimits(limits: readonly SpendLimit[]): void {
    this.limits = limits;
    this.link?.setSpendLimits(limits);
  }

  /** Nothing of this run is on its way to the record after that. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const question of this.asked.values()) question.abort();
    await this.connecting;
    await Promise.all(this.underWay);
  }

  /**
   * A runner opens its door a moment after it starts. Whoever comes too late to hear its last word
   * finds it in a file, and whose line broke tries again.
   */
  private async connect(): Promise<void> {
    const { jobDir, attempt } = this.run;
    const { signal } = this.closing;
    while (!signal.aborted) {
      const link = await connectRunner(jobDir, { patience: tryFor, signal }).catch(() => undefined);
      if (link) await this.listen(link);
      if (this.isTold) return;
      const report = await readReport(jobDir, attempt).catch(() => undefined);
      if (report) return this.tell(report);
    }
  }

  /** Resolves when the line is closed. */
  private async listen(link: RunnerLink): Promise<void> {
    this.link = link;
    link.on("approval", (asked) => this.ask(asked.request_id, () => this.take(asked)));
    link.on("errand", (asked) => this.ask(asked.request_id, () => this.takeErrand(asked)));
    link.on("errandWithdrawn", (id) => this.asked.get(id)?.abort());
    link.on("outcome", (report) => this.hear(report));
    link.on("withdrawn", ({ request_id }) => this.asked.get(request_id)?.abort());
    link.on("spending", ({ attempt, usd, tokens }) => {
      if (attempt === this.run.attempt) this.onSpending({ usd, tokens });
    });
    if (this.limits) link.setSpendLimits(this.limits);
    if (this.wanted) link.stop(this.wanted.reason, this.wanted.force);
    const closed = new Promise<void>((resolve) => link.once("closed", resolve));
    const { signal } = this.closing;
    if (!signal.aborted) await Promise.race([closed, aborted(signal)]);
    link.close();
    this.link = undefined;
  }

  /** At the path of a job whose attempts follow each other closely another may still be heard. */
  private hear(report: RunReport): void {
    if (report.attempt !== this.run.attempt) return;
    this.isTold = true;
    this.tell(report);
  }

  /** Whoever connects again is told again what is open. */
  private ask(requestId: string, work: () => Promise<void>): void {
    if (this.asked.has(requestId)) return;
    this.follow(work());
  }

  private follow(work: Promise<void>): void {
    const settled = work.catch(this.onTrouble).finally(() => this.underWay.delete(settled));
    this.underWay.add(settled);
  }

  private async take(asked: ApprovalAsked): Promise<void> {
    const { request_id } = asked;
    const withdrawn = new AbortController();
    this.asked.set(request_id, withdrawn);
    try {
      if (asked.question)
        await this.passQuestion({ ...asked, ...asked.question }, withdrawn.signal);
      else await this.passRequest(asked, withdrawn.signal);
    } finally {
      this.asked.delete(request_id);
    }
  }

  /** Without an answer it stays open for the next fleet process. */
  private async takeErrand(asked: ErrandAsked): Promise<void> {
    const { request_id } = asked;
    const withdrawn = new AbortController();
    this.asked.set(request_id, withdrawn);
    const answer = await this.runErrand(asked, withdrawn.signal);
    this.asked.delete(request_id);
    if (answer && !this.closing.signal.aborted) this.link?.answerErrand(request_id, answer);
  }

  private async passQuestion(
    question: Question & { request_id: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { request_id } = question;
    const reply = await this.approvals.question(question, signal, request_id);
    // Whoever leaves has heard no answer: the question stays open for the next fleet process.
    if (!this.closing.signal.aborted) this.link?.reply(request_id, reply);
  }

  private async passRequest(
    { request_id, tool, input, description, expires_at }: ApprovalAsked,
    signal: AbortSignal,
  ): Promise<void> {
    const request = { toolUseId: request_id, tool, input, description };
    const answer = await this.approvals.answer(request, signal, new Date(expires_at));
    const message = answer.behavior === "deny" ? answer.message : "";
    if (!this.closing.signal.aborted) this.link?.answer(request_id, answer.behavior, message);
  }
}
