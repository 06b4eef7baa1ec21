import { type Approval, type ApprovalDecision, UserError } from "@herdctl/protocol";
import type { EventHub } from "../../lib/event-hub.ts";
import type { Actor } from "../../store/model/identity.ts";
import type { StateManager } from "../../store/state-manager.ts";
import type { AskPerson } from "./approval-requests.ts";

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
