import type { ApprovalDesk } from "../../runner/approval-desk.ts";
import type { ErrandAsked } from "../../runner-process/contract.ts";
import type { ErrandAnswer } from "../../state/errand.ts";

/** What a run asks of its fleet, and what is known of the run. */
export interface Errand {
  jobId: string;
  asked: ErrandAsked;
  approvals: ApprovalDesk;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Aborted when the run is to end. */
  stopping: AbortSignal;
  /** Aborted when this fleet process lets go of the run, which goes on. */
  left: AbortSignal;
}

/** The same errand, however often it is brought, by whichever fleet process. */
export function keyOfErrand({ jobId, asked }: Pick<Errand, "jobId" | "asked">): string {
  return `errand:${jobId}:${asked.request_id}`;
}

export function refused(reason: string): ErrandAnswer {
  return { kind: "refused", reason };
}

export function done(text: string): ErrandAnswer {
  return { kind: "done", text };
}
