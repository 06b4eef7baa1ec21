import {
  escapeInvisibleInline,
  formatPermissionRule,
  type PermissionRule,
} from "@herdctl/protocol";
import { formatAge } from "./format-amounts.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function ruleTable(rules: PermissionRule[], now: Date, style: TerminalStyle): string[] {
  const { bold, dim } = style.colors;
  const columns: Column<PermissionRule>[] = [
    { title: "AGENT", text: ({ agent }) => agent, color: () => bold },
    { title: "ALLOWED", text: allowedText },
    { title: "FOR", text: ({ job_id }) => job_id ?? "always" },
    {
      title: "SINCE",
      text: ({ created_at }) => `${formatAge(created_at, now)} ago`,
      color: () => dim,
    },
    { title: "BY", hideIfNarrow: true, text: ({ created_by }) => created_by, color: () => dim },
    { title: "ID", text: ({ id }) => id, color: () => dim },
  ];
  return tableLines(columns, rules, style);
}

/** An exact request shows its input. */
function allowedText(rule: PermissionRule): string {
  const text = formatPermissionRule(rule);
  const input = rule.rules.length === 0 ? `: ${JSON.stringify(rule.input)}` : "";
  return escapeInvisibleInline(`${text}${input}`);
}
