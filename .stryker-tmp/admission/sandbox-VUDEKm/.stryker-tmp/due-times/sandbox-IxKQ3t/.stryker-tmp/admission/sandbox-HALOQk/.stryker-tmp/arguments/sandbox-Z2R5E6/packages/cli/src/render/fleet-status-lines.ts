import type { FleetStatus } from "@herdctl/protocol";
import { formatAge, formatCost } from "./format-amounts.ts";
import type { TerminalStyle } from "./terminal-style.ts";

type FleetState = FleetStatus["fleet"]["state"];

const stateLabels: Record<
  FleetState,
  { label: string; color: "green" | "yellow" | "red" | "cyan" }
> = {
  starting: { label: "starting", color: "cyan" },
  running: { label: "running", color: "green" },
  draining: { label: "stopping", color: "yellow" },
  refusing: { label: "accepts no new jobs", color: "red" },
};

/** The state of the fleet on one line, and its problem below. Expects sanitized texts. */
export function fleetStatusLines(
  { fleet }: FleetStatus,
  now: Date,
  style: TerminalStyle,
): string[] {
  const { bold, dim, red } = style.colors;
  const { label, color } = stateLabels[fleet.state];
  const age = `pid ${fleet.pid} · up ${formatAge(fleet.started_at, now)}`;
  return [
    `${bold(fleet.name)}  ${style.colors[color](`● ${label}`)}  ${dim(`${age} · ${fleetCountsText(fleet)}`)}`,
    ...(fleet.problem?.split("\n") ?? []).map((line, at) =>
      red(at === 0 ? `! ${line}` : `  ${line}`),
    ),
  ];
}

/** `2 running · 1 waiting · 3 pending · $0.0421 today`. Zero counts are left out. */
export function fleetCountsText(
  fleet: Pick<FleetStatus["fleet"], "running" | "waiting" | "pending" | "cost_today_usd">,
): string {
  const counts = (["running", "waiting", "pending"] as const)
    .filter((name) => fleet[name] > 0)
    .map((name) => `${fleet[name].toLocaleString("en")} ${name}`);
  const work = counts.length === 0 ? ["idle"] : counts;
  return [...work, `${formatCost(fleet.cost_today_usd)} today`].join(" · ");
}
