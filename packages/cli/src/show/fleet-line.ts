import type { FleetStatus } from "@herdctl/core";
import { ageText, costText } from "./amounts.ts";
import type { Look } from "./look.ts";

type FleetState = FleetStatus["fleet"]["state"];

const states: Record<FleetState, { word: string; colour: "green" | "yellow" | "red" | "cyan" }> = {
  starting: { word: "starting", colour: "cyan" },
  running: { word: "running", colour: "green" },
  draining: { word: "stopping", colour: "yellow" },
  refusing: { word: "takes no new work", colour: "red" },
};

/** How the whole fleet stands, in a line, and below it what is wrong. Its texts must be harmless. */
export function fleetLines({ fleet }: FleetStatus, now: Date, look: Look): string[] {
  const { bold, dim, red } = look.colors;
  const { word, colour } = states[fleet.state];
  const age = `pid ${fleet.pid} · up ${ageText(fleet.started_at, now)}`;
  return [
    `${bold(fleet.name)}  ${look.colors[colour](`● ${word}`)}  ${dim(`${age} · ${countsText(fleet)}`)}`,
    ...(fleet.problem?.split("\n") ?? []).map((line, at) =>
      red(at === 0 ? `! ${line}` : `  ${line}`),
    ),
  ];
}

/** `2 running · 1 waiting · 3 pending · $0.0421 today`; what is nought is left out. */
export function countsText(
  fleet: Pick<FleetStatus["fleet"], "running" | "waiting" | "pending" | "cost_today_usd">,
): string {
  const counts = (["running", "waiting", "pending"] as const)
    .filter((name) => fleet[name] > 0)
    .map((name) => `${fleet[name].toLocaleString("en")} ${name}`);
  const work = counts.length === 0 ? ["nothing to do"] : counts;
  return [...work, `${costText(fleet.cost_today_usd)} today`].join(" · ");
}
