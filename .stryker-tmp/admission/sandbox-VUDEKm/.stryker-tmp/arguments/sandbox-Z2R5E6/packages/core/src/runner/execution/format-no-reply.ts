import type { Reply } from "@herdctl/protocol";

type NoReply = Extract<Reply, { kind: "none" }>;

/** The message to the model for a question without an answer. */
export function formatNoReply({ why, reason }: Pick<NoReply, "why" | "reason">): string {
  const reasonText = reason ? ` The reason given: ${reason}` : "";
  return `${reasons[why]}${reasonText} This is neither a yes nor a no: do only work that does not depend on the answer, and mention what is left open.`;
}

const reasons: Record<NoReply["why"], string> = {
  expired: "There was no answer in time.",
  declined: "A person declined to answer.",
  nobody: "There is no person to ask.",
  withdrawn: "The question was withdrawn before it was answered.",
};
