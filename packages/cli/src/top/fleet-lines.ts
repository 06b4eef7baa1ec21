import { agentTable } from "../show/agent-table.ts";
import { askedLines } from "../show/asked-lines.ts";
import { fleetLines } from "../show/fleet-line.ts";
import { jobTable } from "../show/job-table.ts";
import type { Look } from "../show/look.ts";
import { cut } from "../show/width.ts";
import type { Facts } from "./news.ts";
import type { Size } from "./page.ts";

const keys = "↑↓ select   enter log   c cancel   a answer   p pause   q quit";

/** The whole fleet on one screen, with the chosen row marked. */
export function fleetScreen(
  facts: Facts,
  { selected, note }: { selected: number; note: string },
  { size, now, look }: { size: Size; now: Date; look: Look },
): string[] {
  const { status, jobs } = facts;
  const narrow = { ...look, width: size.columns - 2 };
  const { agents } = status;
  const head = fleetLines(status, now, narrow);
  const asked = askedLines(facts, narrow).map((line) => `  ${line}`);
  const room = Math.max(size.rows - head.length - asked.length - 6, 2);
  const agentRows = Math.min(agents.length, Math.max(Math.ceil(room / 2), room - jobs.length));
  const onJobs = selected - agents.length;
  const shownAgents = part(agents, agentRows, selected);
  const shownJobs = part(jobs, room - agentRows, Math.max(onJobs, 0));
  return [
    ...head.map((line) => ` ${line}`),
    "",
    ...marked(agentTable(shownAgents.rows, now, narrow), selected - shownAgents.first, look),
    ...asked,
    "",
    ...marked(jobTable(shownJobs.rows, now, narrow), onJobs - shownJobs.first, look),
    "",
    note === ""
      ? look.colors.dim(` ${keys}`)
      : look.colors.yellow(` ${cut(note, size.columns - 2)}`),
  ];
}

/** As many rows as fit, with the chosen one among them. */
function part<T>(rows: T[], fit: number, chosen: number): { first: number; rows: T[] } {
  const first = Math.max(0, Math.min(chosen - fit + 1, rows.length - fit));
  return { first, rows: rows.slice(first, first + fit) };
}

/** A table below its titles, with a mark beside one of its rows. */
function marked(table: string[], row: number, { colors }: Look): string[] {
  return table.map((line, at) =>
    at > 0 && at === row + 1 ? `${colors.cyan("❯")} ${colors.bold(line)}` : `  ${line}`,
  );
}
