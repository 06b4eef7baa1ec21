import { type ApprovalDecision, allowScopes } from "@herdctl/protocol";
import { z } from "zod";

/** `decision` answers a permission request, `reply` answers a question. */
export const approvalAnswerSchema = z
  .strictObject({
    decision: z.enum(["allow", "deny"]).optional(),
    scope: z.enum(allowScopes).optional(),
    reply: z.string().optional(),
    note: z.string().min(1).max(200).optional(),
    reason: z.string().max(10_000).optional(),
  })
  .transform(({ decision, scope, reply, note, reason }, context) => {
    if (scope !== undefined && decision !== "allow") {
      context.addIssue({ code: "custom", message: "`scope` needs `decision: allow`" });
      return z.NEVER;
    }
    if ((decision === undefined) === (reply === undefined)) {
      context.addIssue({ code: "custom", message: "expected either `decision` or `reply`" });
      return z.NEVER;
    }
    return { decision: toDecision(decision, scope, reply), note, reason };
  });

function toDecision(
  decision: "allow" | "deny" | undefined,
  scope: (typeof allowScopes)[number] = "once",
  reply = "",
): ApprovalDecision {
  if (decision === undefined) return { reply };
  return decision === "deny" || scope === "once" ? decision : { allow: scope };
}
