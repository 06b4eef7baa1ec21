import type { AgentStatus, Job } from "@herdctl/core";
import { runtimeText, sinceText } from "./agent-now.ts";
import { ageText, costText } from "./amounts.ts";
import { fieldLines } from "./fields.ts";
import { jobTable } from "./job-table.ts";
import type { Look } from "./look.ts";
import { clockText, waitText } from "./wait-text.ts";

export interface AgentPage {
  agent: AgentStatus;
  waiting: Job[];
  recent: Job[];
}

/** One agent: what it does now, what it waits for, what it did last. Its texts must be harmless. */
export function agentPage({ agent, waiting, recent }: AgentPage, now: Date, look: Look): string[] {
  const { bold, dim, red, cyan, yellow } = look.colors;
  const { paused } = agent;
  const running = agent.running.map(
    ({ job_id, started_at, doing, node }) =>
      `${cyan(`◐ ${doing}`)} ${dim([sinceText(started_at, now), node, job_id].filter(Boolean).join(" · "))}`,
  );
  const held = waiting.map((job) => `${yellow(`◔ ${waitText(job)}`)} ${dim(job.id)}`);
  return [
    `${bold(agent.name)}  ${dim([runtimeText(agent), agent.description].filter(Boolean).join(" · "))}`,
    ...fieldLines(
      [
        ["now", running.length > 0 ? running : dim("idle")],
        ["waiting", held],
        ["pending", agent.pending > 0 ? String(agent.pending) : null],
        ["schedules", agent.schedules.map(scheduleText)],
        ["paused", paused && [red(`${paused.reason} (${ageText(paused.since, now)})`)]],
        ["", paused && dim(`herdctl resume ${agent.name}`)],
        [
          "next",
          agent.next_due && `${clockText(agent.next_due.due_at)} ${agent.next_due.schedule}`,
        ],
        ["cost today", costText(agent.cost_today_usd)],
      ],
      { ...look, width: undefined },
    ),
    ...(recent.length === 0 ? [] : ["", ...jobTable(recent, now, look)]),
  ];
}

function scheduleText({ name, type, enabled }: AgentStatus["schedules"][number]): string {
  return `${name} (${type})${enabled ? "" : ", switched off"}`;
}
