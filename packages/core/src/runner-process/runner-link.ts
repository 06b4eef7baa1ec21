import { EventEmitter } from "node:events";
import type { ApprovalAsked, ApprovalWithdrawn, ToRunner } from "./contract.ts";

export interface RunnerLinkEvents {
  approval: [asked: ApprovalAsked];
  withdrawn: [withdrawn: ApprovalWithdrawn];
  closed: [];
}

/** A connection to a living runner. Questions that are still open are asked again of whoever connects. */
export class RunnerLink extends EventEmitter<RunnerLinkEvents> {
  stop(_reason: "cancelled" | "interrupted", _force: boolean): void {}

  answer(_requestId: string, _behavior: "allow" | "deny", _message = ""): void {}

  close(): void {}
}

/** Rejects when nobody listens there: the runner has not begun yet, or is over. */
export async function connectRunner(_jobDir: string): Promise<RunnerLink> {
  throw new Error("not yet");
}
export type { ToRunner };
