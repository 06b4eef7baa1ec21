import { answerApproval } from "../answer-approval.ts";
import type { CommandContext } from "../command.ts";

export function run(context: CommandContext): Promise<number> {
  return answerApproval(context, () => "allow");
}
