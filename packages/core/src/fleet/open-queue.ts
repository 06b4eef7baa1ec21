import type { ResolvedAgent } from "../config/resolve.ts";
import { BossQueue } from "../queue/boss/boss-queue.ts";
import { OrderCarrier } from "../queue/boss/order-carrier.ts";
import type { Queue } from "../queue/contract.ts";
import { EmbeddedQueue } from "../queue/embedded-queue.ts";
import type { HandOutRules } from "../queue/plan-hand-out.ts";
import { placeOf } from "../runner/run-order.ts";
import { sessionRule } from "../runner/session-plan.ts";
import type { HomeWish } from "../state/hand-out.ts";
import type { FleetContext } from "./context.ts";

interface QueueFrame {
  context: Pick<FleetContext, "state" | "site" | "fleet" | "trouble">;
  isActive(jobId: string): boolean;
  /** Of a short fleet, which starts only its own. */
  own?: (jobId: string) => boolean;
}

/** The queue that fits the state: of this process alone, or of all nodes that share it. */
export function openQueue({ context, isActive, own }: QueueFrame): Queue {
  const { state, site, fleet, trouble } = context;
  const { shared } = state;
  const concerns = own ?? (() => true);
  if (!shared || !site) return new EmbeddedQueue({ jobs: state.jobs, isActive, concerns });
  const { nodes } = site;
  const { connectionString } = shared;
  return new BossQueue({
    jobs: state.jobs,
    carrier: new OrderCarrier({ connectionString, node: nodes.id, trouble }),
    here: () => nodes,
    nodes: () => nodes.nodes,
    mayHandOut: () => nodes.isUpToDate,
    rules: () => rulesOf(fleet().agents),
    own,
    isActive,
  });
}

function rulesOf(agents: readonly ResolvedAgent[]): Pick<HandOutRules, "places" | "latestOf"> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return {
    places: new Map(
      agents.map(({ name, runs_on: runsOn, when_node_gone: whenGone }) => [
        name,
        { runsOn, whenGone },
      ]),
    ),
    latestOf: ({ agent, schedule }) => latestOf(byName.get(agent), schedule),
  };
}

/** Which session a job goes on with by itself, as `prepareRun` will choose it. */
function latestOf(agent: ResolvedAgent | undefined, schedule: string | null): HomeWish["latest"] {
  if (!agent) return null;
  const { goesOn, ownOf } = sessionRule(agent, schedule);
  return goesOn ? { place: placeOf(agent), ownOf } : null;
}
