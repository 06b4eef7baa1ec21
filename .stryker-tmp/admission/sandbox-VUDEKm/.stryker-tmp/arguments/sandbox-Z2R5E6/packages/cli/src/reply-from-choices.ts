import { type Approval, parseChoiceNumbers, UserError } from "@herdctl/protocol";
import { sanitizeText } from "./render/sanitize-text.ts";

/** The labels of choices by their displayed numbers: `2`, or `1,3` if multiple choices are allowed. */
export function replyFromChoices(
  { choices, multiple }: Pick<Approval, "choices" | "multiple">,
  numbers: string,
): string {
  if (choices === null) throw new UserError("reply_unfit", "the question has no choices");
  const labels = parseChoiceNumbers(choices, numbers);
  if (labels && (multiple || labels.length === 1)) return labels.join(", ");
  const choiceList = choices
    .map(({ label }, index) => `${index + 1} ${sanitizeText(label)}`)
    .join(", ");
  const reason = labels ? "the question takes only one choice" : `there is no choice ${numbers}`;
  throw new UserError("reply_unfit", `${reason}: ${choiceList}`);
}
