import { valuesAt } from "../values-at.ts";
import { decideActor } from "./decide-actor.ts";
import { firstText, type IncomingDelivery } from "./read-delivery.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

export type DeliveryDecision =
  | { kind: "wanted"; command: string | null }
  | { kind: "unwanted"; reason: string };

/** Whether a delivery is what the schedule waits for; the first that speaks against it is the reason. */
export function decideDelivery(
  delivery: IncomingDelivery,
  schedule: WebhookSchedule,
): DeliveryDecision {
  for (const objection of objections) {
    const reason = objection(delivery, schedule);
    if (reason !== undefined) return { kind: "unwanted", reason };
  }
  return { kind: "wanted", command: commandOf(delivery, schedule) ?? null };
}

type Objection = (delivery: IncomingDelivery, schedule: WebhookSchedule) => string | undefined;

const objections: Objection[] = [
  function isPing({ kind, event }) {
    return kind === "github" && event === "ping" ? "a ping, and it came through" : undefined;
  },
  function isAnotherEvent({ event }, { on }) {
    if (on === undefined) return undefined;
    const isWanted = [on].flat().some((one) => event === one || event?.startsWith(`${one}.`));
    return isWanted ? undefined : `${event ?? "an event without a name"} is not waited for`;
  },
  function isNoCommand(delivery, schedule) {
    if (schedule.command === undefined) return undefined;
    // A comment that is edited afterwards would give its command again.
    const isNew = schedule.on !== undefined || delivery.event?.endsWith(".created");
    if (isNew && commandOf(delivery, schedule) !== undefined) return undefined;
    return `it is no comment that begins with ${schedule.command}`;
  },
  function differs({ payload }, { filter = {} }) {
    const entries = Object.entries(filter);
    const wrong = entries.find(([path, wanted]) => !matches(valuesAt(payload, path), wanted));
    return wrong && `${wrong[0]} is not ${[wrong[1]].flat().join(" or ")}`;
  },
  function isFromAStranger({ kind, event, payload }, { from }) {
    return kind === "github" ? decideActor(event ?? "", payload, from) : undefined;
  },
];

function matches(found: unknown[], wanted: string | string[]): boolean {
  const texts = found.flat().map(String);
  return [wanted].flat().some((one) => texts.includes(one));
}

/** What follows the command in its line; undefined when the comment does not begin with it. */
function commandOf({ payload }: IncomingDelivery, { command }: WebhookSchedule) {
  const comment = firstText(payload, "comment.body", "review.body") ?? "";
  const [line = ""] = comment.trimStart().split(/\r?\n/);
  const [word, ...rest] = line.trim().split(/\s+/);
  return command !== undefined && word === command ? rest.join(" ") : undefined;
}
