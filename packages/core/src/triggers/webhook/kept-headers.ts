import type { Headers } from "./verify-signature.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

/** Those that tell what a delivery is. All others are dropped: a new one may be a secret. */
const kept = [
  "user-agent",
  "x-github-event",
  "x-github-delivery",
  "x-github-hook-id",
  "x-gitlab-event",
  "webhook-id",
  "webhook-timestamp",
  "x-slack-request-timestamp",
  "x-slack-retry-num",
  "x-slack-retry-reason",
];

export function keptHeaders(
  headers: Headers,
  { header, id_header }: WebhookSchedule["signature"],
): Record<string, string> {
  const names = id_header === undefined ? kept : [...kept, id_header.toLowerCase()];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return value === undefined || name === header?.toLowerCase() ? [] : [[name, value]];
    }),
  );
}
