import type { Reply } from "../state/question.ts";

type NoReply = Extract<Reply, { kind: "none" }>;

/** What the model is told of a question without an answer. */
export function noReplyText({ why, reason }: Pick<NoReply, "why" | "reason">): string {
  const told = reason ? ` The reason given: ${reason}` : "";
  return `${reasons[why]}${told} That is neither a yes nor a no: do only what does not depend on it, and say what is left open.`;
}

const reasons: Record<NoReply["why"], string> = {
  expired: "Nobody answered in time.",
  declined: "A person declined to answer.",
  nobody: "Nobody is there to be asked.",
  withdrawn: "The question was withdrawn before anybody answered.",
};
