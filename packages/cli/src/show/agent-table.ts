import type { AgentStatus } from "@herdctl/core";
import { agentNow, agentNowColour, runtimeText } from "./agent-now.ts";
import { ageText, costText } from "./amounts.ts";
import type { Look } from "./look.ts";
import { outcomeColour, outcomeMark } from "./status.ts";
import { type Column, tableLines } from "./table.ts";
import { clockText } from "./wait-text.ts";

/** One line an agent, below a line of titles. Its texts must be harmless. */
export function agentTable(agents: AgentStatus[], now: Date, look: Look): string[] {
  const { bold, dim } = look.colors;
  const columns: Column<AgentStatus>[] = [
    { title: "AGENT", text: (agent) => agent.name, paint: () => bold },
    { title: "RUNTIME", spare: true, text: runtimeText, paint: () => dim },
    { title: "QUEUE", align: "right", text: ({ pending }) => (pending > 0 ? String(pending) : "") },
    {
      title: "LAST",
      text: (agent) => lastText(agent, now),
      paint: ({ last_job }) => outcomeColour(last_job?.outcome ?? null, look),
    },
    {
      title: "TODAY",
      spare: true,
      align: "right",
      text: ({ cost_today_usd: cost }) => (cost > 0 ? costText(cost) : ""),
    },
    {
      title: "NEXT",
      spare: true,
      text: ({ next_due: next }) => (next ? `${clockText(next.due_at, now)} ${next.schedule}` : ""),
      paint: () => dim,
    },
    {
      title: "NOW",
      text: (agent) => agentNow(agent, now),
      paint: (agent) => agentNowColour(agent, look),
    },
  ];
  return tableLines(columns, agents, look);
}

function lastText({ last_job: last }: AgentStatus, now: Date): string {
  if (!last?.outcome) return "";
  const age = last.finished_at === null ? "" : ` ${ageText(last.finished_at, now)}`;
  return `${outcomeMark(last.outcome)} ${last.outcome}${age}`;
}
