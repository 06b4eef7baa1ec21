import { answerApproval } from "../answer-approval.ts";
import type { Call } from "../command.ts";

export function run(call: Call): Promise<number> {
  return answerApproval(call, () => "deny");
}
