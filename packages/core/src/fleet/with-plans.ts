import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { ChangedInterval, OneShot } from "../state/one-shot.ts";

type Schedules = ResolvedAgent["schedules"];
type OneShotConfig = Extract<Schedules[string], { type: "at" }>;

/** The configuration as it is with what agents have planned: schedules like any others. */
export function withPlans(
  fleet: Fleet,
  oneShots: readonly OneShot[],
  intervals: readonly ChangedInterval[],
): Fleet {
  if (oneShots.length + intervals.length === 0) return fleet;
  const agents = fleet.agents.map((agent) => {
    const isOwn = (one: { agent: string }) => one.agent === agent.name;
    const changed = changedSchedules(agent.schedules, intervals.filter(isOwn));
    const planned = oneShots.filter(isOwn).map((one) => [one.schedule, configOf(one)] as const);
    return { ...agent, schedules: { ...changed, ...Object.fromEntries(planned) } };
  });
  return { ...fleet, agents };
}

function changedSchedules(schedules: Schedules, intervals: readonly ChangedInterval[]): Schedules {
  return Object.fromEntries(
    Object.entries(schedules).map(([name, config]) => {
      const changed = intervals.find(({ schedule }) => schedule === name);
      // Whoever writes another interval into the configuration means that one.
      const holds = config.type === "interval" && changed?.instead_of === config.every;
      return [name, holds && changed ? { ...config, every: changed.every } : config];
    }),
  );
}

const catchUpWindow = 24 * 60 * 60_000;

function configOf({ at, prompt }: OneShot): OneShotConfig {
  return {
    type: "at",
    at,
    prompt,
    enabled: true,
    overlap: "allow",
    catch_up: "latest",
    catch_up_window: catchUpWindow,
  };
}
