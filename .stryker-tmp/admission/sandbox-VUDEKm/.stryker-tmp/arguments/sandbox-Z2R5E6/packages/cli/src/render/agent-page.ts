import type { AgentStatus, Job } from "@herdctl/protocol";
import { formatElapsedSince, runtimeText } from "./agent-activity.ts";
import { fieldLines } from "./field-lines.ts";
import { formatAge, formatCost } from "./format-amounts.ts";
import { jobTableLines } from "./job-table.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime, formatWait } from "./wait-text.ts";

export interface AgentPageData {
  agent: AgentStatus;
  waiting: Job[];
  recent: Job[];
}

/** One agent: running, waiting and recent jobs. Expects sanitized texts. */
export function agentPageLines(
  { agent, waiting, recent }: AgentPageData,
  now: Date,
  style: TerminalStyle,
): string[] {
  const { bold, dim, red, cyan, yellow } = style.colors;
  const { paused } = agent;
  const running = agent.running.map(
    ({ job_id, started_at, activity, node }) =>
      `${cyan(`◐ ${activity}`)} ${dim([formatElapsedSince(started_at, now), node, job_id].filter(Boolean).join(" · "))}`,
  );
  const waitingLines = waiting.map((job) => `${yellow(`◔ ${formatWait(job)}`)} ${dim(job.id)}`);
  return [
    `${bold(agent.name)}  ${dim([runtimeText(agent), agent.description].filter(Boolean).join(" · "))}`,
    ...fieldLines(
      [
        ["now", running.length > 0 ? running : dim("idle")],
        ["waiting", waitingLines],
        ["pending", agent.pending > 0 ? String(agent.pending) : null],
        ["schedules", agent.schedules.map(scheduleText)],
        ["paused", paused && [red(`${paused.reason} (${formatAge(paused.since, now)})`)]],
        ["", paused && dim(`herdctl resume ${agent.name}`)],
        [
          "next",
          agent.next_due && `${formatTime(agent.next_due.due_at)} ${agent.next_due.schedule}`,
        ],
        ["cost today", formatCost(agent.cost_today_usd)],
      ],
      { ...style, width: undefined },
    ),
    ...(recent.length === 0 ? [] : ["", ...jobTableLines(recent, now, style)]),
  ];
}

function scheduleText({ name, type, enabled }: AgentStatus["schedules"][number]): string {
  return `${name} (${type})${enabled ? "" : ", disabled"}`;
}
