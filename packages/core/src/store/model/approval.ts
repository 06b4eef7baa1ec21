import { createHash } from "node:crypto";
import { type Approval, type ApprovalDecision, UserError } from "@herdctl/protocol";
import { parseReply } from "@herdctl/protocol/schemas";
import { canonicalJson } from "../../lib/canonical-json.ts";

/**
 * The decision as it is recorded. Permission requests take no text, and questions take no
 * permission.
 */
export function normalizeDecision(
  approval: Approval,
  decision: ApprovalDecision,
): Pick<Approval, "answer" | "reply" | "scope"> {
  if (decision === "deny") return { answer: "deny", reply: null, scope: null };
  const isQuestion = approval.kind === "question";
  if (decision === "allow" || "allow" in decision) {
    const scope = decision === "allow" ? "once" : decision.allow;
    if (!isQuestion) return { answer: "allow", reply: null, scope };
    const hint = `Answer it with \`herdctl answer ${approval.id} TEXT\`.`;
    throw new UserError("reply_unfit", "this is a question and needs an answer", { hint });
  }
  if (isQuestion)
    return { answer: "reply", reply: parseReply(approval, decision.reply), scope: null };
  const hint = `Allow or deny it with \`herdctl approvals\`.`;
  throw new UserError("reply_unfit", "this is a permission request, not a question", { hint });
}

/** The same hash for equal requests, whatever the order of their keys. */
export function hashToolRequest(tool: string, input: unknown): string {
  return createHash("sha256")
    .update(canonicalJson([tool, input]))
    .digest("hex");
}
