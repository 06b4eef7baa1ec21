import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";

export type WebhookSchedule = Extract<ResolvedAgent["schedules"][string], { type: "webhook" }>;

/** What a delivery is for, as its address says it. */
export interface WebhookTarget {
  agent: string;
  schedule: string;
}

/** An agent or schedule that is not there and one that takes no deliveries are told alike. */
export function findWebhook(
  agents: readonly ResolvedAgent[],
  { agent, schedule }: WebhookTarget,
): WebhookSchedule {
  const schedules = agents.find(({ name }) => name === agent)?.schedules ?? {};
  const found = Object.hasOwn(schedules, schedule) ? schedules[schedule] : undefined;
  if (found?.type === "webhook") return found;
  throw new UserError("webhook_not_found", "there is no webhook at this address");
}

export function hasWebhooks(agents: readonly ResolvedAgent[]): boolean {
  return agents.some(({ schedules }) =>
    Object.values(schedules).some(({ type }) => type === "webhook"),
  );
}
