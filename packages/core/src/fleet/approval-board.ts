import { UserError } from "../errors/user-error.ts";
import type { AskPerson } from "../runner/approval-desk.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { Actor } from "../state/identity.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { EventHub } from "./event-hub.ts";

/** Where what is asked of people hangs until somebody answers it, from wherever. */
export class ApprovalBoard {
  private readonly waiting = new Map<string, (word: Word) => void>();

  constructor(
    private readonly state: StateManager,
    private readonly hub: EventHub,
  ) {
    // Also heard when it was answered on another node.
    hub.on("approval:answered", ({ approval }) => this.settle(approval));
    hub.onMissed(() => void this.lookAgain());
  }

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
  async answer(id: string, word: Word, by: Actor, reason?: string): Promise<Approval> {
    const { identity, note } = by;
    const { approvals } = this.state;
    const { applied, approval } = await approvals.answer(id, word, identity, reason, note);
    if (!applied) {
      const how = approval.answer ?? "no longer asked";
      throw new UserError("approval_closed", `this question has been closed: ${how}`);
    }
    this.hub.emit({ type: "approval:answered", approval });
    return approval;
  }

  private settle(approval: Approval): void {
    const word = wordOf(approval);
    // What ran out of time, or is no longer asked, has a clock of its own.
    if (word === undefined) return;
    this.waiting.get(approval.id)?.(word);
    this.waiting.delete(approval.id);
  }

  private async lookAgain(): Promise<void> {
    for (const id of [...this.waiting.keys()]) {
      const approval = await this.state.approvals.get(id).catch(() => undefined);
      if (approval) this.settle(approval);
    }
  }
}

function wordOf({ answer, reply }: Approval): Word | undefined {
  if (answer === "allow" || answer === "deny") return answer;
  return answer === "reply" && reply !== null ? { reply } : undefined;
}
