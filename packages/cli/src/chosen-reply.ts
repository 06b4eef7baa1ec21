import type { Approval } from "@herdctl/core";
import { labelsByNumber, UserError } from "@herdctl/core/light";
import { harmless } from "./show/harmless.ts";

/** The labels behind numbers as they are shown: `2`, or `1,3` where several may be chosen. */
export function chosenReply(
  { choices, several }: Pick<Approval, "choices" | "several">,
  typed: string,
): string {
  if (choices === null) throw new UserError("reply_unfit", "there is nothing to choose from");
  const labels = labelsByNumber(choices, typed);
  if (labels && (several || labels.length === 1)) return labels.join(", ");
  const offered = choices.map(({ label }, at) => `${at + 1} ${harmless(label)}`).join(", ");
  const why = labels ? "only one may be chosen" : `there is no choice ${typed}`;
  throw new UserError("reply_unfit", `${why}: ${offered}`);
}
