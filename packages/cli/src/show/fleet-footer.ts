import type { FleetStatus } from "@herdctl/core";
import { sinceText } from "./agent-now.ts";
import { elapsedText } from "./amounts.ts";
import { countsText } from "./fleet-line.ts";
import type { Look } from "./look.ts";
import { cut } from "./width.ts";

/** Stands below the lines of a fleet: how it is, or what it waits for before it stops. */
export function footerLine(
  status: FleetStatus,
  deadline: number | undefined,
  now: Date,
  { colors, width = 80 }: Look,
): string {
  const text = deadline === undefined ? countsText(status.fleet) : drainText(status, deadline, now);
  const tail = deadline === undefined ? "Ctrl-C stops" : "Ctrl-C again ends them now";
  const paint = deadline === undefined ? colors.dim : colors.yellow;
  return paint(cut(`${deadline === undefined ? "●" : "■"} ${text} · ${tail}`, width));
}

/** `waits for coder (Bash, 42 s), writer (thinking, 3 s) · 71 s left`. */
export function drainText({ agents }: FleetStatus, deadline: number, now: Date): string {
  const busy = agents.flatMap(({ name, running }) =>
    running.map(({ doing, started_at }) => `${name} (${doing}, ${sinceText(started_at, now)})`),
  );
  if (busy.length === 0) return "stopping";
  const left = elapsedText(Math.max(0, deadline - now.getTime()));
  return `waits for ${busy.join(", ")} · ${left} left`;
}
