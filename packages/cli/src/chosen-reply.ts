import type { Approval } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { harmless } from "./show/harmless.ts";

/** The labels behind numbers as they are shown: `2`, or `1,3` where several may be chosen. */
export function chosenReply(
  { choices, several }: Pick<Approval, "choices" | "several">,
  typed: string,
): string {
  if (choices === null) throw new UserError("reply_unfit", "there is nothing to choose from");
  const numbers = typed.split(",").map((one) => one.trim());
  const labels = numbers.map((one) =>
    /^\d+$/.test(one) ? choices[Number(one) - 1]?.label : undefined,
  );
  const known = labels.filter((label) => label !== undefined);
  if (known.length === numbers.length && (several || known.length === 1)) return known.join(", ");
  const offered = choices.map(({ label }, at) => `${at + 1} ${harmless(label)}`).join(", ");
  const why =
    known.length === numbers.length ? "only one may be chosen" : `there is no choice ${typed}`;
  throw new UserError("reply_unfit", `${why}: ${offered}`);
}
