import { randomUUID } from "node:crypto";
import { approvalExpiry } from "../runner/approval-desk.ts";
import type { PermissionAnswer, PermissionRequest } from "../runner/runtime/permission.ts";
import type { ApprovalAsked, ApprovalWithdrawn, ToRunner } from "./contract.ts";

type Answer = Extract<ToRunner, { type: "answer" }>;
type Close = (answer: PermissionAnswer, why: ApprovalWithdrawn["why"]) => void;

export interface Audience {
  asked(approval: ApprovalAsked): void;
  withdrawn(approval: ApprovalWithdrawn): void;
}

/**
 * The questions of this run that wait for a word. Whoever is connected is asked; if nobody is, a
 * question waits until somebody comes or its time is over. Silence is never consent.
 */
export class OpenApprovals {
  private readonly open = new Map<string, { asked: ApprovalAsked; close: Close }>();

  constructor(private readonly audience: Audience) {}

  get all(): ApprovalAsked[] {
    return [...this.open.values()].map(({ asked }) => asked);
  }

  readonly ask = (request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> =>
    new Promise((resolve) => {
      const asked = questionOf(request, new Date());
      const nobody: PermissionAnswer = { behavior: "deny", message: "Nobody allowed this." };
      const withdraw = () => close(nobody, "withdrawn");
      const expiry = setTimeout(() => close(nobody, "expired"), approvalExpiry);
      const close: Close = (answer, why) => {
        const { request_id } = asked;
        if (!this.open.delete(request_id)) return;
        clearTimeout(expiry);
        signal.removeEventListener("abort", withdraw);
        this.audience.withdrawn({ type: "approval_withdrawn", request_id, why });
        resolve(answer);
      };
      this.open.set(asked.request_id, { asked, close });
      this.audience.asked(asked);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
    });

  /** The first word counts. */
  answer({ request_id, behavior, message }: Answer): void {
    const question = this.open.get(request_id);
    if (!question) return;
    const allowed: PermissionAnswer = { behavior: "allow", updatedInput: question.asked.input };
    const denied: PermissionAnswer = {
      behavior: "deny",
      message: message || "A person denied this.",
    };
    question.close(behavior === "allow" ? allowed : denied, "answered");
  }
}

function questionOf({ tool, input, description }: PermissionRequest, now: Date): ApprovalAsked {
  return {
    type: "approval",
    request_id: randomUUID(),
    tool,
    input,
    ...(description !== undefined && { description }),
    asked_at: now.toISOString(),
    expires_at: new Date(now.getTime() + approvalExpiry).toISOString(),
  };
}
