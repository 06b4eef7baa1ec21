import type { ApprovalDecision } from "@herdctl/protocol";
import { z } from "zod";

/** `decision` answers a permission request, `reply` answers a question. */
export const approvalAnswerSchema = z
  .strictObject({
    decision: z.enum(["allow", "deny"]).optional(),
    reply: z.string().optional(),
    note: z.string().min(1).max(200).optional(),
    reason: z.string().max(10_000).optional(),
  })
  .transform(({ decision, reply, note, reason }, context) => {
    const answer: ApprovalDecision | undefined = reply === undefined ? decision : { reply };
    if (answer !== undefined && (decision === undefined || reply === undefined))
      return { decision: answer, note, reason };
    context.addIssue({ code: "custom", message: "expected either `decision` or `reply`" });
    return z.NEVER;
  });
