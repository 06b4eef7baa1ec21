import type { FleetStatus } from "@herdctl/core";
import { countText } from "./amounts.ts";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";

export interface ReloadChanges {
  agents: string[];
  added: string[];
  removed: string[];
}

export function reloadChanges(before: FleetStatus, after: FleetStatus): ReloadChanges {
  const [old, agents] = [before, after].map((one) => one.agents.map((agent) => agent.name));
  return {
    agents: agents ?? [],
    added: (agents ?? []).filter((name) => !old?.includes(name)),
    removed: (old ?? []).filter((name) => !agents?.includes(name)),
  };
}

export function reloadLines({ agents, added, removed }: ReloadChanges, look: Look): string[] {
  const { green, red } = look.colors;
  return [
    `${green("✓")} read again: ${countText(agents.length, "agent")}`,
    ...added.map((name) => `  ${green(`+ ${harmless(name)}`)}`),
    ...removed.map((name) => `  ${red(`- ${harmless(name)}`)}  what it has begun goes on`),
  ];
}
