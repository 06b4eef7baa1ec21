import { randomUUID } from "node:crypto";
import type { Delivery, DeliveryWithBody } from "../../state/delivery.ts";
import { decideDelivery } from "./decide-delivery.ts";
import { readDelivery } from "./read-delivery.ts";
import { type DeliveryDesk, recordWithJob, requestFor, verdictOf } from "./receive-delivery.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

/**
 * What came once is taken as if it came now: decided by today's configuration, with a job of its
 * own. It was verified when it came and has been ours since.
 */
export async function replayDelivery(
  desk: Pick<DeliveryDesk, "trigger" | "deliveries">,
  { id, redeliveries: _, received_at: __, job_id: ___, ...kept }: DeliveryWithBody,
  schedule: WebhookSchedule,
): Promise<Delivery> {
  const { agent, schedule: name, headers, content_type, body } = kept;
  const target = { agent, schedule: name };
  const key = `webhook:${agent}/${name}:replay-${randomUUID()}`;
  const signed = {
    headers: { ...headers, "content-type": content_type },
    body: Buffer.from(body),
  };
  const read = readDelivery(schedule.signature, signed);
  const decision = decideDelivery(read, schedule);
  const request = requestFor(target, schedule, read, decision, key);
  const { event } = read;
  const incoming = { ...kept, key, event, ...verdictOf(decision), replay_of: id };
  return (await recordWithJob(desk, incoming, request)).delivery;
}
