import type { ApprovalDesk } from "../runner/approval-desk.ts";
import type { ApprovalAsked } from "../runner-process/contract.ts";
import { connectRunner, type RunnerLink } from "../runner-process/runner-link.ts";

export type StopReason = "cancelled" | "interrupted";

const tryEvery = 50;

/** Our end of the line to a runner: it brings questions, and takes answers and the word to stop. */
export class RunnerDesk {
  private readonly closing = new AbortController();
  private readonly asked = new Map<string, AbortController>();
  private readonly connecting: Promise<void>;
  private hangUp: () => void = () => undefined;
  /** The runner has nothing more to say: it has left its outcome, or is about to be found dead. */
  readonly hungUp = new Promise<void>((resolve) => {
    this.hangUp = resolve;
  });
  private link: RunnerLink | undefined;
  private wanted: { reason: StopReason; force: boolean } | undefined;

  constructor(
    private readonly jobDir: string,
    private readonly approvals: ApprovalDesk,
  ) {
    this.connecting = this.connect();
  }

  stop(reason: StopReason, force: boolean): void {
    this.wanted = { reason, force };
    this.link?.stop(reason, force);
  }

  async close(): Promise<void> {
    this.closing.abort();
    for (const question of this.asked.values()) question.abort();
    await this.connecting;
    this.link?.close();
  }

  /** A runner opens its door a moment after it starts, and some are over before. */
  private async connect(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const link = await connectRunner(this.jobDir).catch(() => undefined);
      if (link) return this.listen(link);
      await new Promise((resolve) => setTimeout(resolve, tryEvery));
    }
  }

  private listen(link: RunnerLink): void {
    this.link = link;
    link.on("approval", (asked) => void this.take(asked));
    link.once("closed", () => this.hangUp());
    link.on("withdrawn", ({ request_id }) => this.asked.get(request_id)?.abort());
    if (this.wanted) link.stop(this.wanted.reason, this.wanted.force);
  }

  private async take({
    request_id,
    tool,
    input,
    description,
    expires_at,
  }: ApprovalAsked): Promise<void> {
    const withdrawn = new AbortController();
    this.asked.set(request_id, withdrawn);
    const request = { toolUseId: request_id, tool, input, description };
    const answer = await this.approvals.answer(request, withdrawn.signal, new Date(expires_at));
    this.asked.delete(request_id);
    this.link?.answer(
      request_id,
      answer.behavior,
      answer.behavior === "deny" ? answer.message : "",
    );
  }
}
