import type { Answer } from "../../api/ask.ts";
import { countWords, moneyWords } from "../../ui/quantities.ts";

type Line = Answer<"budget">["fleet"];
export type BudgetKind = "usd" | "jobs" | "tokens";

export interface Limit {
  kind: BudgetKind;
  label: string;
  /** Of 1; more than that is 1. */
  share: number;
  isUsedUp: boolean;
  words: string;
}

/** Sums of prices end in noise: less than this is nothing. */
const nothing = 1e-6;

/** What is limited of a day, how much of it is used, and whether anything is left. */
export function limitsOf({ limits, spent, reserved_usd: held }: Line): Limit[] {
  return kinds.flatMap(({ kind, label, write }) => {
    const limit = limits[kind];
    if (limit === null) return [];
    const used = spent[kind] + (kind === "usd" ? held : 0);
    const waiting = kind === "usd" && held > 0 ? `, ${moneyWords(held)} of it held` : "";
    return {
      kind,
      label,
      share: limit === 0 ? 1 : Math.min(1, used / limit),
      isUsedUp: limit - used < nothing,
      words: `${write(used)} of ${write(limit)}${kind === "usd" ? "" : ` ${label}`}${waiting}`,
    };
  });
}

const kinds: { kind: BudgetKind; label: string; write(value: number): string }[] = [
  { kind: "usd", label: "cost", write: moneyWords },
  { kind: "jobs", label: "jobs", write: countWords },
  { kind: "tokens", label: "tokens", write: countWords },
];
