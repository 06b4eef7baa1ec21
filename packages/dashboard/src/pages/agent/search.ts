const agentTabs = ["overview", "schedules", "sessions", "configuration", "security"] as const;
type AgentTab = (typeof agentTabs)[number];

export interface AgentSearch {
  /** The overview when nothing is said. */
  tab?: AgentTab;
  /** The day of the calendar that is open, such as `2026-02-01`. */
  day?: string;
  /** Only values of the configuration that are written somewhere. */
  written?: true;
}

/** What the address may say; anything else is left out. */
export function parseAgentSearch({ tab, day, written }: Record<string, unknown>): AgentSearch {
  return {
    tab: agentTabs.find((one) => one === tab),
    day: typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined,
    written: written === true ? true : undefined,
  };
}
