export type AgentSearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseAgentSearch(_: Record<string, unknown>): AgentSearch {
  return {};
}
