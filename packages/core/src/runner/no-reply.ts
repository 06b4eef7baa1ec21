import type { Reply } from "../state/question.ts";

type Why = Extract<Reply, { kind: "none" }>["why"];

/** What the model is told of a question without an answer. */
export function noReplyText(why: Why): string {
  return `${reasons[why]} That is neither a yes nor a no: do only what does not depend on it, and say what is left open.`;
}

const reasons: Record<Why, string> = {
  expired: "Nobody answered in time.",
  declined: "A person declined to answer.",
  nobody: "Nobody is there to be asked.",
  withdrawn: "The question was withdrawn before anybody answered.",
};
