import { agentTableLines } from "../render/agent-table.ts";
import { fleetStatusLines } from "../render/fleet-status-lines.ts";
import { jobTableLines } from "../render/job-table.ts";
import { pendingApprovalLines } from "../render/pending-approval-lines.ts";
import type { TerminalStyle } from "../render/terminal-style.ts";
import { truncate } from "../render/text-width.ts";
import type { FleetSnapshot } from "./fleet-snapshot.ts";
import type { ScreenSize } from "./page.ts";

const keyHelp = "↑↓ select   enter log   c cancel   a answer   p pause   q quit";

/** The fleet on one screen, with the selected row marked. */
export function fleetScreen(
  snapshot: FleetSnapshot,
  { selected, note }: { selected: number; note: string },
  { size, now, style }: { size: ScreenSize; now: Date; style: TerminalStyle },
): string[] {
  const { status, jobs } = snapshot;
  const innerStyle = { ...style, width: size.columns - 2 };
  const { agents } = status;
  const head = fleetStatusLines(status, now, innerStyle);
  const approvalLines = pendingApprovalLines(snapshot, innerStyle).map((line) => `  ${line}`);
  const room = Math.max(size.rows - head.length - approvalLines.length - 6, 2);
  const agentRows = Math.min(agents.length, Math.max(Math.ceil(room / 2), room - jobs.length));
  const selectedJobIndex = selected - agents.length;
  const shownAgents = visibleRows(agents, agentRows, selected);
  const shownJobs = visibleRows(jobs, room - agentRows, Math.max(selectedJobIndex, 0));
  return [
    ...head.map((line) => ` ${line}`),
    "",
    ...markSelectedRow(
      agentTableLines(shownAgents.rows, now, innerStyle),
      selected - shownAgents.first,
      style,
    ),
    ...approvalLines,
    "",
    ...markSelectedRow(
      jobTableLines(shownJobs.rows, now, innerStyle),
      selectedJobIndex - shownJobs.first,
      style,
    ),
    "",
    note === ""
      ? style.colors.dim(` ${keyHelp}`)
      : style.colors.yellow(` ${truncate(note, size.columns - 2)}`),
  ];
}

/** The rows that fit, including the selected one. */
function visibleRows<T>(
  rows: T[],
  maxRows: number,
  selectedIndex: number,
): { first: number; rows: T[] } {
  const first = Math.max(0, Math.min(selectedIndex - maxRows + 1, rows.length - maxRows));
  return { first, rows: rows.slice(first, first + maxRows) };
}

/** Marks one row of a table. The first line contains the titles. */
function markSelectedRow(table: string[], row: number, { colors }: TerminalStyle): string[] {
  return table.map((line, at) =>
    at > 0 && at === row + 1 ? `${colors.cyan("❯")} ${colors.bold(line)}` : `  ${line}`,
  );
}
