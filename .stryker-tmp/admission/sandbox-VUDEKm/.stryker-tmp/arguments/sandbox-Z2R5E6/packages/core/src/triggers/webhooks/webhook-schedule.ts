import { isPortConfigured, type LoadedFleet, type ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";

export type WebhookSchedule = Extract<ResolvedAgent["schedules"][string], { type: "webhook" }>;

/** The agent and the schedule that the URL of a delivery names. */
export interface WebhookTarget {
  agent: string;
  schedule: string;
}

/** Unknown agents, unknown schedules and schedules of another type give the same error. */
export function findWebhook(
  agents: readonly ResolvedAgent[],
  { agent, schedule }: WebhookTarget,
): WebhookSchedule {
  const schedules = agents.find(({ name }) => name === agent)?.schedules ?? {};
  const found = Object.hasOwn(schedules, schedule) ? schedules[schedule] : undefined;
  if (found?.type === "webhook") return found;
  throw new UserError("webhook_not_found", "there is no webhook at this address");
}

function hasWebhooks(agents: readonly ResolvedAgent[]): boolean {
  return agents.some(({ schedules }) =>
    Object.values(schedules).some(({ type }) => type === "webhook"),
  );
}

/** No port is configured and no other program depends on it, so any free port will do. */
export function canUseAnyPort({ fleet, trees }: Pick<LoadedFleet, "fleet" | "trees">): boolean {
  return !isPortConfigured(trees.fleet) && !hasWebhooks(fleet.agents) && !fleet.server.mcp;
}
