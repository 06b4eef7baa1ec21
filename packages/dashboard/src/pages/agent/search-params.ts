const agentTabs = [
  "overview",
  "schedules",
  "sessions",
  "configuration",
  "security",
  "edit",
] as const;
type AgentTab = (typeof agentTabs)[number];

export interface AgentSearch {
  /** Default: overview. */
  tab?: AgentTab;
  /** The selected calendar day, such as `2026-02-01`. */
  day?: string;
  /** Show only configuration values that are set in a file. */
  written?: true;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseAgentSearch({ tab, day, written }: Record<string, unknown>): AgentSearch {
  return {
    tab: agentTabs.find((agentTab) => agentTab === tab),
    day: typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined,
    written: written === true ? true : undefined,
  };
}
