import type { BudgetLine, BudgetView } from "@herdctl/core";
import { costText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

type Row = BudgetLine & { name: string };
type Kind = keyof BudgetLine["spent"];

/** What is used of each limit today; who has no limit and spent nothing is left out. */
export function budgetLines(given: BudgetView, look: Look): string[] {
  const { day, fleet, agents } = harmlessAll(given);
  const { bold, dim, red } = look.colors;
  const rows: Row[] = [
    { name: "the whole fleet", ...fleet },
    ...agents.map(({ agent, ...line }) => ({ name: agent, ...line })).filter(isOfInterest),
  ];
  const column = (title: string, kind: Kind): Column<Row> => ({
    title,
    text: (row) => usedText(row, kind),
    paint: (row) => (isUsedUp(row, kind) ? red : (text) => text),
  });
  const columns: Column<Row>[] = [
    { title: day, text: ({ name }) => name, paint: () => bold },
    column("DOLLARS", "usd"),
    column("JOBS", "jobs"),
    column("TOKENS", "tokens"),
    {
      title: "HELD",
      text: ({ reserved_usd: held }) => (held > 0 ? costText(held) : ""),
      paint: () => dim,
    },
  ];
  return tableLines(columns, rows, look);
}

function isOfInterest({ limits, spent }: Row): boolean {
  return Object.values(limits).some((limit) => limit !== null) || spent.jobs > 0;
}

function usedText({ spent, limits, raised }: Row, kind: Kind): string {
  const text = (amount: number) =>
    kind === "usd" ? costText(amount) : amount.toLocaleString("en");
  const limit = limits[kind];
  if (limit === null) return text(spent[kind]);
  const more = raised[kind] > 0 ? ` (raised by ${text(raised[kind])})` : "";
  return `${text(spent[kind])} of ${text(limit)}${more}`;
}

function isUsedUp({ spent, limits, reserved_usd }: Row, kind: Kind): boolean {
  const limit = limits[kind];
  return limit !== null && spent[kind] + (kind === "usd" ? reserved_usd : 0) >= limit;
}
