import type { BudgetUsage, BudgetView } from "@herdctl/protocol";
import { formatCost } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

type Row = BudgetUsage & { name: string };
type AmountKind = keyof BudgetUsage["spent"];

/** Today's spending and limits. Agents without a limit and without jobs are left out. */
export function budgetLines(view: BudgetView, style: TerminalStyle): string[] {
  const { day, fleet, agents } = sanitizeDeep(view);
  const { bold, dim, red } = style.colors;
  const rows: Row[] = [
    { name: "whole fleet", ...fleet },
    ...agents.map(({ agent, ...usage }) => ({ name: agent, ...usage })).filter(hasLimitOrJobs),
  ];
  const column = (title: string, kind: AmountKind): Column<Row> => ({
    title,
    text: (row) => usageText(row, kind),
    color: (row) => (isExhausted(row, kind) ? red : (text) => text),
  });
  const columns: Column<Row>[] = [
    { title: day, text: ({ name }) => name, color: () => bold },
    column("COST", "usd"),
    column("JOBS", "jobs"),
    column("TOKENS", "tokens"),
    {
      title: "RESERVED",
      text: ({ reserved_usd }) => (reserved_usd > 0 ? formatCost(reserved_usd) : ""),
      color: () => dim,
    },
  ];
  return tableLines(columns, rows, style);
}

function hasLimitOrJobs({ limits, spent }: Row): boolean {
  return Object.values(limits).some((limit) => limit !== null) || spent.jobs > 0;
}

function usageText({ spent, limits, raised }: Row, kind: AmountKind): string {
  const text = (amount: number) =>
    kind === "usd" ? formatCost(amount) : amount.toLocaleString("en");
  const limit = limits[kind];
  if (limit === null) return text(spent[kind]);
  const raisedText = raised[kind] > 0 ? ` (raised by ${text(raised[kind])})` : "";
  return `${text(spent[kind])} of ${text(limit)}${raisedText}`;
}

function isExhausted({ spent, limits, reserved_usd }: Row, kind: AmountKind): boolean {
  const limit = limits[kind];
  return limit !== null && spent[kind] + (kind === "usd" ? reserved_usd : 0) >= limit;
}
