import { UserError } from "../errors/user-error.ts";
import type { AskPerson } from "../runner/approval-desk.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { EventHub } from "./event-hub.ts";

/** Where what is asked of people hangs until somebody answers it, from wherever. */
export class ApprovalBoard {
  private readonly waiting = new Map<string, (word: Word) => void>();

  constructor(
    private readonly state: StateManager,
    private readonly hub: EventHub,
  ) {}

  readonly ask: AskPerson = (approval, signal) =>
    new Promise((resolve, reject) => {
      this.waiting.set(approval.id, resolve);
      const withdraw = () => {
        this.waiting.delete(approval.id);
        reject(new Error("it is no longer asked"));
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.hub.emit({ type: "approval:asked", approval });
    });

  /** Durable before it takes effect. */
  async answer(id: string, word: Word, by: string, reason?: string): Promise<Approval> {
    const { applied, approval } = await this.state.approvals.answer(id, word, by, reason);
    if (!applied) {
      const how = approval.answer ?? "no longer asked";
      throw new UserError("approval_closed", `this question has been closed: ${how}`);
    }
    this.waiting.get(id)?.(word);
    this.waiting.delete(id);
    this.hub.emit({ type: "approval:answered", approval });
    return approval;
  }
}
