import { UserError } from "@herdctl/core/light";
import { answerApproval } from "../answer-approval.ts";
import { chosenReply } from "../chosen-reply.ts";
import { type Call, textOption } from "../command.ts";

export async function run(call: Call): Promise<number> {
  const [, text] = call.arguments;
  const choice = textOption(call.options, "choice");
  if ((text === undefined) === (choice === undefined)) {
    const hint = "Write the answer after the id, or choose one with `--choice NUMBER`.";
    throw new UserError(
      "usage",
      text === undefined ? "what is the answer?" : "one answer, please",
      {
        hint,
      },
    );
  }
  return answerApproval(call, (approval) => ({
    reply: choice === undefined ? (text ?? "") : chosenReply(approval, choice),
  }));
}
