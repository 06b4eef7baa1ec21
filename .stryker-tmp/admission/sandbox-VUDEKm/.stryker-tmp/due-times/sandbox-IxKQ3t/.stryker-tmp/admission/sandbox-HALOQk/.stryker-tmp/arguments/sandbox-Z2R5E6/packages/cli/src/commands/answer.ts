import { UserError } from "@herdctl/protocol";
import { answerApproval } from "../answer-approval.ts";
import { type CommandContext, textOption } from "../command.ts";
import { replyFromChoices } from "../reply-from-choices.ts";

export async function run(context: CommandContext): Promise<number> {
  const [, text] = context.arguments;
  const choice = textOption(context.options, "choice");
  if ((text === undefined) === (choice === undefined)) {
    const message =
      text === undefined ? "the answer is missing" : "give either a text or `--choice`, not both";
    throw new UserError("usage", message, {
      hint: "Write the answer after the ID, or choose one with `--choice NUMBER`.",
    });
  }
  return answerApproval(context, (approval) => ({
    reply: choice === undefined ? (text ?? "") : replyFromChoices(approval, choice),
  }));
}
