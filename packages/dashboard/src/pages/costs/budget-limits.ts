import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { formatCount, formatMoney } from "../../ui/format-quantities.ts";

type BudgetLine = ResponseOfRoute<"budget">["fleet"];
export type BudgetKind = "usd" | "jobs" | "tokens";

export interface Limit {
  kind: BudgetKind;
  label: string;
  /** The used share, from 0 to 1. */
  share: number;
  isUsedUp: boolean;
  text: string;
}

/** Sums of prices have rounding errors: less than this counts as zero. */
const epsilonUsd = 1e-6;

/** The limits of a day, with the used share and whether anything is left. */
export function toLimits({ limits, spent, reserved_usd: reservedUsd }: BudgetLine): Limit[] {
  return kinds.flatMap(({ kind, label, unit, format }) => {
    const limit = limits[kind];
    if (limit === null) return [];
    const used = spent[kind] + (kind === "usd" ? reservedUsd : 0);
    const reservedText =
      kind === "usd" && reservedUsd > 0 ? `, including ${formatMoney(reservedUsd)} reserved` : "";
    return {
      kind,
      label,
      share: limit === 0 ? 1 : Math.min(1, used / limit),
      isUsedUp: limit - used < epsilonUsd,
      text: `${format(used)} of ${format(limit)}${unit}${reservedText}`,
    };
  });
}

const kinds: { kind: BudgetKind; label: string; unit: string; format(value: number): string }[] = [
  { kind: "usd", label: "cost", unit: "", format: formatMoney },
  { kind: "jobs", label: "job", unit: " jobs", format: formatCount },
  { kind: "tokens", label: "token", unit: " tokens", format: formatCount },
];
