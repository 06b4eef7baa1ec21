import { randomUUID } from "node:crypto";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import {
  type AcceptedDelivery,
  type Delivery,
  type DeliveryWithBody,
  type RefusalCount,
  UserError,
} from "@herdctl/protocol";
import type { JobRequest } from "../../jobs/admission/admit.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";
import { type Actor, identities } from "../../store/model/identity.ts";
import type { DeliveryStore } from "../../store/sql/delivery-store.ts";
import type { JobStore } from "../../store/sql/job-store.ts";
import { checkMediaType, readDelivery } from "./read-delivery.ts";
import {
  buildTriggerRequest,
  decideDelivery,
  deliveryStatusOf,
  type ReceiveDeliveryDeps,
  type ReceiveResult,
  receiveDelivery,
  recordWithJob,
} from "./receive-delivery.ts";
import type { RequestHeaders, SignedRequest } from "./verify-signature.ts";
import { findWebhook, type WebhookSchedule, type WebhookTarget } from "./webhook-schedule.ts";

export interface WebhookReceiverOptions {
  agents(): readonly ResolvedAgent[];
  /** The current environment, because a secret may have changed since the last delivery. */
  environment(): Environment;
  stores(): { jobs: JobStore; deliveries: DeliveryStore };
  trigger(request: JobRequest, delivery: AcceptedDelivery, actor: Actor): Promise<AdmissionResult>;
  isEnabled(target: WebhookTarget, schedule: WebhookSchedule): Promise<boolean>;
  /** Records a wrong signature before its sender gets a response. */
  onSignatureRejected(target: WebhookTarget, origin: string): Promise<void>;
  /** Removes old deliveries. */
  prune(): Promise<void>;
  /** Called for each recorded delivery, including redeliveries. */
  onDelivery(delivery: Delivery): void;
}

/** A busy day must not fill the disk before the daily cleanup. */
const pruneEveryDeliveries = 100;

const maxWrongSignaturesPerMinute = 30;

/**
 * Receives webhook deliveries from any transport. Refused deliveries are only counted; wrong
 * signatures are also in the audit log.
 */
export class WebhookReceiver {
  private readonly rates = new RateLimit();
  private readonly wrongSignatureRates = new RateLimit();
  private readonly refusalCounter = new RefusalCounter();
  private receivedCount = 0;

  constructor(private readonly options: WebhookReceiverOptions) {}

  /** Checks a delivery before its body is read. */
  checkHeaders(target: WebhookTarget, headers: RequestHeaders): void {
    const { signature } = findWebhook(this.options.agents(), target);
    checkMediaType(signature, headers);
  }

  /** `origin` is the network address of the sender. */
  async receive(
    target: WebhookTarget,
    signed: SignedRequest,
    origin = "webhook",
  ): Promise<ReceiveResult> {
    const { agents, environment, stores, isEnabled, prune, onDelivery } = this.options;
    const schedule = findWebhook(agents(), target);
    const now = new Date();
    const onVerified = async () => {
      if (!(await isEnabled(target, schedule))) throw webhookDisabledError();
      this.enforceRateLimit(target, schedule.rate_limit, now);
    };
    const { jobs, deliveries } = stores();
    const trigger = this.triggerAs({ identity: identities.webhook, origin });
    const onSignatureRejected = async () => {
      // defence: audit-bad-signature
      await this.options.onSignatureRejected(target, origin);
      this.enforceWrongSignatureLimit(target, now);
    };
    const deps = {
      jobs,
      deliveries,
      environment: environment(),
      trigger,
      onVerified,
      onSignatureRejected,
    };
    const receipt = await receiveDelivery(deps, target, schedule, signed, now);
    if (receipt.kind === "recorded") onDelivery(receipt.delivery);
    this.receivedCount += 1;
    if (this.receivedCount % pruneEveryDeliveries === 0) await prune();
    return receipt;
  }

  async replay(id: string, actor: Actor): Promise<Delivery> {
    const { agents, stores } = this.options;
    const { deliveries } = stores();
    const delivery = await deliveries.get(id);
    if (!delivery) throw new UserError("delivery_not_found", `there is no delivery ${id}`);
    const schedule = findWebhook(agents(), delivery);
    return replayDelivery({ deliveries, trigger: this.triggerAs(actor) }, delivery, schedule);
  }

  private triggerAs(actor: Actor) {
    return (request: JobRequest, delivery: AcceptedDelivery) =>
      this.options.trigger(request, delivery, actor);
  }

  recordRefusal(target: WebhookTarget, reason: string): void {
    const isKnown = reason !== "webhook_not_found";
    this.refusalCounter.count(isKnown ? target : undefined, reason);
  }

  get refusals(): RefusalCount[] {
    return this.refusalCounter.list();
  }

  private enforceRateLimit({ agent, schedule }: WebhookTarget, perMinute: number, now: Date): void {
    const retryAfterSeconds = this.rates.tryTake(`${agent}/${schedule}`, perMinute, now);
    if (retryAfterSeconds === undefined) return;
    throw new TooManyDeliveries(
      `this webhook accepts ${perMinute} deliveries per minute`,
      retryAfterSeconds,
    );
  }

  /** Called only after a wrong signature, so that guesses never block a correct sender. */
  private enforceWrongSignatureLimit({ agent, schedule }: WebhookTarget, now: Date): void {
    const retryAfterSeconds = this.wrongSignatureRates.tryTake(
      `${agent}/${schedule}`,
      maxWrongSignaturesPerMinute,
      now,
    );
    if (retryAfterSeconds === undefined) return;
    throw new TooManyDeliveries("too many deliveries with a wrong signature", retryAfterSeconds);
  }
}

/** Only senders with a correct signature get this error. */
function webhookDisabledError(): UserError {
  const message = "this webhook is switched off; the delivery was not accepted";
  return new UserError("webhook_off", message);
}

export class TooManyDeliveries extends UserError {
  override readonly name = "TooManyDeliveries";

  constructor(
    message: string,
    /** Seconds. */
    readonly retryAfterSeconds: number,
  ) {
    super("too_many_deliveries", message);
  }
}

/** A token bucket for each name: it holds one minute's worth and refills steadily. */
class RateLimit {
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  /** Returns undefined if there is room, else the number of seconds until there is. */
  tryTake(name: string, perMinute: number, now: Date): number | undefined {
    const at = now.getTime();
    const last = this.buckets.get(name) ?? { tokens: perMinute, at };
    const refilled = last.tokens + (Math.max(0, at - last.at) / 60_000) * perMinute;
    const tokens = Math.min(perMinute, refilled);
    const hasToken = tokens >= /* defence: webhook-rate-limit */ 1;
    this.buckets.set(name, { tokens: hasToken ? tokens - 1 : tokens, at });
    return hasToken ? undefined : Math.ceil(((1 - tokens) / perMinute) * 60);
  }
}

class RefusalCounter {
  private readonly counts = new Map<string, RefusalCount>();

  /**
   * `target` is undefined for an unknown address, because strangers must not be able to fill this.
   */
  count(target: WebhookTarget | undefined, reason: string): void {
    const { agent = null, schedule = null } = target ?? {};
    const name = JSON.stringify([agent, schedule, reason]);
    const known = this.counts.get(name) ?? { agent, schedule, reason, count: 0 };
    this.counts.set(name, { ...known, count: known.count + 1 });
  }

  list(): RefusalCount[] {
    return [...this.counts.values()];
  }
}

/**
 * Handles a recorded delivery as if it arrived now: by the current configuration, with a new job.
 * It was verified when it arrived and has been stored since.
 */
async function replayDelivery(
  deps: Pick<ReceiveDeliveryDeps, "trigger" | "deliveries">,
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
  const parsed = readDelivery(schedule.signature, signed);
  const decision = decideDelivery(parsed, schedule);
  const request = buildTriggerRequest(target, schedule, parsed, decision, key);
  const { event } = parsed;
  const incoming = { ...kept, dedup_key: key, event, ...deliveryStatusOf(decision), replay_of: id };
  return (await recordWithJob(deps, incoming, request)).delivery;
}
