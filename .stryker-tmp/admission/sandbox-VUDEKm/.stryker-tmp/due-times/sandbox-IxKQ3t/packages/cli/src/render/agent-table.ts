import type { AgentStatus } from "@herdctl/protocol";
import { agentActivityColor, agentActivityText, runtimeText } from "./agent-activity.ts";
import { formatAge, formatCost } from "./format-amounts.ts";
import { outcomeColor, outcomeMark } from "./job-status.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime } from "./wait-text.ts";

/** One line per agent below the titles. Expects sanitized texts. */
export function agentTableLines(agents: AgentStatus[], now: Date, style: TerminalStyle): string[] {
  const { bold, dim } = style.colors;
  const columns: Column<AgentStatus>[] = [
    { title: "AGENT", text: (agent) => agent.name, color: () => bold },
    { title: "RUNTIME", hideIfNarrow: true, text: runtimeText, color: () => dim },
    { title: "QUEUE", align: "right", text: ({ pending }) => (pending > 0 ? String(pending) : "") },
    {
      title: "LAST",
      text: (agent) => lastJobText(agent, now),
      color: ({ last_job }) => outcomeColor(last_job?.outcome ?? null, style),
    },
    {
      title: "TODAY",
      hideIfNarrow: true,
      align: "right",
      text: ({ cost_today_usd: cost }) => (cost > 0 ? formatCost(cost) : ""),
    },
    {
      title: "NEXT",
      hideIfNarrow: true,
      text: ({ next_due: next }) =>
        next ? `${formatTime(next.due_at, now)} ${next.schedule}` : "",
      color: () => dim,
    },
    {
      title: "NOW",
      text: (agent) => agentActivityText(agent, now),
      color: (agent) => agentActivityColor(agent, style),
    },
  ];
  return tableLines(columns, agents, style);
}

function lastJobText({ last_job: last }: AgentStatus, now: Date): string {
  if (!last?.outcome) return "";
  const age = last.finished_at === null ? "" : ` ${formatAge(last.finished_at, now)}`;
  return `${outcomeMark(last.outcome)} ${last.outcome}${age}`;
}
