import { UserError } from "../errors/user-error.ts";
import type { Approval, Word } from "./approval.ts";
import { readReply } from "./question.ts";

/** The word as it is recorded. Permission is not given by an answer, and no answer by permission. */
export function fitWord(approval: Approval, word: Word): Pick<Approval, "answer" | "reply"> {
  if (word === "deny") return { answer: "deny", reply: null };
  const isQuestion = approval.kind === "question";
  if (word === "allow") {
    if (!isQuestion) return { answer: "allow", reply: null };
    const hint = `Answer it with \`herdctl answer ${approval.id} TEXT\`.`;
    throw new UserError("reply_unfit", "this is a question, which wants an answer", { hint });
  }
  if (isQuestion) return { answer: "reply", reply: readReply(approval, word.reply) };
  const hint = `Allow or deny it with \`herdctl approvals\`.`;
  throw new UserError("reply_unfit", "this asks for permission, not for an answer", { hint });
}
