import type { FleetStatus } from "@herdctl/protocol";
import { formatCount } from "./format-amounts.ts";
import { sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export interface ReloadChanges {
  agents: string[];
  added: string[];
  removed: string[];
}

export function compareReload(before: FleetStatus, after: FleetStatus): ReloadChanges {
  const [oldNames, agents] = [before, after].map((one) => one.agents.map((agent) => agent.name));
  return {
    agents: agents ?? [],
    added: (agents ?? []).filter((name) => !oldNames?.includes(name)),
    removed: (oldNames ?? []).filter((name) => !agents?.includes(name)),
  };
}

export function reloadLines(
  { agents, added, removed }: ReloadChanges,
  style: TerminalStyle,
): string[] {
  const { green, red } = style.colors;
  return [
    `${green("✓")} configuration reloaded: ${formatCount(agents.length, "agent")}`,
    ...added.map((name) => `  ${green(`+ ${sanitizeText(name)}`)}`),
    ...removed.map((name) => `  ${red(`- ${sanitizeText(name)}`)}  its running jobs continue`),
  ];
}
