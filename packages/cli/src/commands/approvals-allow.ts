import { type ApprovalDecision, UserError } from "@herdctl/protocol";
import { answerApproval } from "../answer-approval.ts";
import type { CommandContext } from "../command.ts";

export function run(context: CommandContext): Promise<number> {
  const decision = decisionOf(context);
  return answerApproval(context, () => decision);
}

function decisionOf({ options }: CommandContext): ApprovalDecision {
  if (options.job === true && options.always === true)
    throw new UserError("usage", "`--job` and `--always` exclude each other");
  if (options.always === true) return { allow: "always" };
  return options.job === true ? { allow: "job" } : "allow";
}
