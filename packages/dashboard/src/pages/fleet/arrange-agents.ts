import type { AgentStatus } from "@herdctl/server/contract";
import { toAgentState } from "./agent-state.ts";
import type { FleetSearch, GroupKey, SortKey, StateFilter } from "./search-params.ts";

/** A part of the agents list. `title` is null if the list is not grouped. */
export interface AgentGroup {
  title: string | null;
  agents: AgentStatus[];
}

const filterByState: Record<StateFilter, (agent: AgentStatus) => boolean> = {
  // `running` includes runs that wait for a person or a limit.
  running: ({ running, waiting }) => running.length > waiting,
  waiting: ({ waiting }) => waiting > 0,
  queued: ({ pending }) => pending > 0,
  paused: ({ paused }) => paused !== null,
  failed: ({ last_job }) =>
    last_job?.outcome != null && !harmlessOutcomes.includes(last_job.outcome),
};

const harmlessOutcomes = ["success", "finished_with_denials", "cancelled"];

export function filterAgents(
  agents: readonly AgentStatus[],
  { q, show }: Pick<FleetSearch, "q" | "show">,
): AgentStatus[] {
  const searchText = q?.toLowerCase() ?? "";
  return agents.filter(
    (agent) =>
      (show === undefined || filterByState[show](agent)) &&
      [agent.name, agent.description ?? "", ...agent.labels]
        .join(" ")
        .toLowerCase()
        .includes(searchText),
  );
}

const stateRank = ["running", "waiting", "queued", "paused", "idle"];

/** Each key has the direction in which people look for something: latest, next, most expensive. */
const compareBy: Record<SortKey, (one: AgentStatus, other: AgentStatus) => number> = {
  name: (one, other) => one.name.localeCompare(other.name),
  state: (one, other) => rankOf(one) - rankOf(other),
  last: (one, other) => textOrder(other.last_job?.finished_at, one.last_job?.finished_at, ""),
  next: (one, other) => textOrder(one.next_due?.due_at, other.next_due?.due_at, "9999"),
  cost: (one, other) => other.cost_today_usd - one.cost_today_usd,
};

function rankOf(agent: AgentStatus): number {
  return stateRank.indexOf(toAgentState(agent).label);
}

function textOrder(
  one: string | null | undefined,
  other: string | null | undefined,
  unset: string,
) {
  return (one ?? unset).localeCompare(other ?? unset);
}

/** The agents to show, in order. An agent with several labels is in several groups. */
export function arrangeAgents(agents: readonly AgentStatus[], search: FleetSearch): AgentGroup[] {
  const { sort, group } = search;
  const found = filterAgents(agents, search);
  const sorted = sort === undefined ? found : found.toSorted(compareBy[sort]);
  return group === undefined ? [{ title: null, agents: sorted }] : groupAgents(sorted, group);
}

function groupAgents(agents: readonly AgentStatus[], key: GroupKey): AgentGroup[] {
  const groups = new Map<string, AgentStatus[]>();
  for (const agent of agents)
    for (const title of groupTitles[key](agent))
      groups.set(title, [...(groups.get(title) ?? []), agent]);
  return [...groups]
    .map(([title, members]) => ({ title, agents: members }))
    .sort((one, other) => one.title.localeCompare(other.title));
}

const groupTitles: Record<GroupKey, (agent: AgentStatus) => string[]> = {
  fleet: ({ name }) => [name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "This fleet"],
  label: ({ labels }) => (labels.length === 0 ? ["No label"] : labels),
};
