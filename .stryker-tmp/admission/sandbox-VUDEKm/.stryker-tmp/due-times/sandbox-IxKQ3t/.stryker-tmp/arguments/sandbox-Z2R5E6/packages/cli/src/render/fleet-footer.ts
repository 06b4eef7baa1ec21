import type { FleetStatus } from "@herdctl/protocol";
import { formatElapsedSince } from "./agent-activity.ts";
import { fleetCountsText } from "./fleet-status-lines.ts";
import { formatElapsed } from "./format-amounts.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { truncate } from "./text-width.ts";

/** The line below the events: the counts of the fleet, or the jobs that a stopping fleet waits for. */
export function fleetFooterLine(
  status: FleetStatus,
  deadline: number | undefined,
  now: Date,
  { colors, width = 80 }: TerminalStyle,
): string {
  const text =
    deadline === undefined ? fleetCountsText(status.fleet) : drainText(status, deadline, now);
  const tail = deadline === undefined ? "Ctrl-C stops" : "Ctrl-C again cancels them now";
  const paint = deadline === undefined ? colors.dim : colors.yellow;
  return paint(truncate(`${deadline === undefined ? "●" : "■"} ${text} · ${tail}`, width));
}

/** `waiting for coder (Bash, 42 s), writer (thinking, 3 s) · 71 s left`. */
export function drainText({ agents }: FleetStatus, deadline: number, now: Date): string {
  const runningTexts = agents.flatMap(({ name, running }) =>
    running.map(
      ({ activity, started_at }) => `${name} (${activity}, ${formatElapsedSince(started_at, now)})`,
    ),
  );
  if (runningTexts.length === 0) return "stopping";
  const left = formatElapsed(Math.max(0, deadline - now.getTime()));
  return `waiting for ${runningTexts.join(", ")} · ${left} left`;
}
