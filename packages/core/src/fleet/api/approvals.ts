import type { AnswerOptions, Approval, ApprovalDecision, ApprovalsApi } from "@herdctl/protocol";
import type { FleetContext } from "./fleet-context.ts";

export class FleetApprovals implements ApprovalsApi {
  constructor(private readonly context: FleetContext) {}

  list({ job }: { job?: string } = {}): Promise<Approval[]> {
    return this.context.read(({ state: { approvals } }) =>
      job === undefined ? approvals.listOpen() : approvals.listByJob(job),
    );
  }

  answer(
    approvalId: string,
    decision: ApprovalDecision,
    { note, reason }: AnswerOptions = {},
  ): Promise<Approval> {
    const caller = this.context.actor;
    const actor =
      note === undefined ? caller : /* defence: authenticated-actor */ { ...caller, note };
    return this.context.perform(
      { action: "approval.answer", target: approvalId },
      ({ pendingApprovals }) => pendingApprovals.answer(approvalId, decision, actor, reason),
      ({ answer, job_id, tool }) => ({ details: { answer, job: job_id, tool } }),
      actor,
    );
  }
}
