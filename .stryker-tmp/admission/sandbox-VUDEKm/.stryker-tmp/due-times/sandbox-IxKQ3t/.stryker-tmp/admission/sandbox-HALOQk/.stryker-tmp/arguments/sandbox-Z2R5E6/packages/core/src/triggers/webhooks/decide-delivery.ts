import { valuesAt } from "../../jobs/prompt-template.ts";
import { checkSender } from "./check-sender.ts";
import { firstNonEmptyText, type IncomingDelivery } from "./read-delivery.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

export type DeliveryDecision =
  | { kind: "wanted"; command: string | null }
  | { kind: "unwanted"; reason: string };

/** Whether the schedule wants a delivery. The first failed check gives the reason. */
export function decideDelivery(
  delivery: IncomingDelivery,
  schedule: WebhookSchedule,
): DeliveryDecision {
  for (const check of deliveryChecks) {
    const reason = check(delivery, schedule);
    if (reason !== undefined) return { kind: "unwanted", reason };
  }
  return { kind: "wanted", command: readCommand(delivery, schedule) ?? null };
}

type DeliveryCheck = (delivery: IncomingDelivery, schedule: WebhookSchedule) => string | undefined;

const deliveryChecks: DeliveryCheck[] = [
  function rejectPing({ kind, event }) {
    return kind === "github" && event === "ping" ? "a ping, which was received" : undefined;
  },
  function rejectOtherEvents({ event }, { events }) {
    if (events === undefined) return undefined;
    const isWanted = [events]
      .flat()
      .some((wanted) => event === wanted || event?.startsWith(`${wanted}.`));
    return isWanted ? undefined : `${event ?? "an event without a name"} is not in \`events\``;
  },
  function rejectNonCommand(delivery, schedule) {
    if (schedule.comment_command === undefined) return undefined;
    // Editing a comment must not repeat its command.
    const isNew = schedule.events !== undefined || delivery.event?.endsWith(".created");
    if (isNew && readCommand(delivery, schedule) !== undefined) return undefined;
    return `it is not a new comment that starts with ${schedule.comment_command}`;
  },
  function rejectFilterMismatch({ payload }, { filter = {} }) {
    const entries = Object.entries(filter);
    const mismatch = entries.find(([path, wanted]) => !matches(valuesAt(payload, path), wanted));
    return mismatch && `${mismatch[0]} is not ${[mismatch[1]].flat().join(" or ")}`;
  },
  function rejectUnknownSender({ kind, event, payload }, { allowed_senders }) {
    return kind === "github" ? checkSender(event ?? "", payload, allowed_senders) : undefined;
  },
];

function matches(found: unknown[], wanted: string | string[]): boolean {
  const texts = found.flat().map(String);
  return [wanted].flat().some((text) => texts.includes(text));
}

/**
 * The text after the command in its line; undefined if the comment does not start with the command.
 */
function readCommand({ payload }: IncomingDelivery, { comment_command: command }: WebhookSchedule) {
  const comment = firstNonEmptyText(payload, "comment.body", "review.body") ?? "";
  const [line = ""] = comment.trimStart().split(/\r?\n/);
  const [word, ...rest] = line.trim().split(/\s+/);
  return command !== undefined && word === command ? rest.join(" ") : undefined;
}
