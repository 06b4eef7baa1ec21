import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";
import type { TriggerRequest } from "../../queue/admit.ts";
import type { Admitted } from "../../state/admission.ts";
import type { DeliveryStore } from "../../state/contract.ts";
import type { Delivery, WantedDelivery } from "../../state/delivery.ts";
import { type Actor, identities } from "../../state/identity.ts";
import type { JobStore } from "../../state/job-store.ts";
import { RateLimit } from "./rate-limit.ts";
import { checkMediaType } from "./read-delivery.ts";
import { type Receipt, receiveDelivery } from "./receive-delivery.ts";
import { type Refusal, Refusals } from "./refusals.ts";
import { replayDelivery } from "./replay-delivery.ts";
import type { Headers, Signed } from "./verify-signature.ts";
import { findWebhook, type WebhookSchedule, type WebhookTarget } from "./webhook-schedule.ts";

export interface DoorOptions {
  agents(): readonly ResolvedAgent[];
  /** As it is now: a secret may have been changed since the last delivery. */
  environment(): Environment;
  stores(): { jobs: JobStore; deliveries: DeliveryStore };
  trigger(request: TriggerRequest, delivery: WantedDelivery, actor: Actor): Promise<Admitted>;
  isOn(target: WebhookTarget, schedule: WebhookSchedule): Promise<boolean>;
  /** What need not be kept may go now. */
  tidy(): Promise<void>;
  /** Told of each delivery that is on record, also when it came before. */
  received(delivery: Delivery): void;
}

/** A busy day must not fill the disk before the next daily tidying. */
const tidyEvery = 100;

const wrongSignaturesPerMinute = 30;

/** Where deliveries come in, however they were carried here. What it refuses is only counted. */
export class WebhookDoor {
  readonly #options: DoorOptions;
  readonly #rates = new RateLimit();
  readonly #guesses = new RateLimit();
  readonly #refusals = new Refusals();
  #received = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** What is wrong with a delivery before its body is read. */
  check(target: WebhookTarget, headers: Headers): void {
    const { signature } = findWebhook(this.#options.agents(), target);
    checkMediaType(signature, headers);
  }

  /** `origin` is the address that it came from. */
  async receive(target: WebhookTarget, signed: Signed, origin = "webhook"): Promise<Receipt> {
    const { agents, environment, stores, isOn, tidy, received } = this.#options;
    const schedule = findWebhook(agents(), target);
    const now = new Date();
    const verified = async () => {
      if (!(await isOn(target, schedule))) throw switchedOff(target);
      this.#limit(target, schedule.rate_limit, now);
    };
    const { jobs, deliveries } = stores();
    const trigger = this.#triggerAs({ identity: identities.webhook, origin });
    const notVerified = () => this.#limitGuesses(target, now);
    const desk = { jobs, deliveries, environment: environment(), trigger, verified, notVerified };
    const receipt = await receiveDelivery(desk, target, schedule, signed, now);
    if (receipt.kind === "recorded") received(receipt.delivery);
    this.#received += 1;
    if (this.#received % tidyEvery === 0) await tidy();
    return receipt;
  }

  async replay(id: string, actor: Actor): Promise<Delivery> {
    const { agents, stores } = this.#options;
    const { deliveries } = stores();
    const delivery = await deliveries.get(id);
    if (!delivery) throw new UserError("delivery_not_found", `there is no delivery ${id}`);
    const schedule = findWebhook(agents(), delivery);
    return replayDelivery({ deliveries, trigger: this.#triggerAs(actor) }, delivery, schedule);
  }

  #triggerAs(actor: Actor) {
    return (request: TriggerRequest, delivery: WantedDelivery) =>
      this.#options.trigger(request, delivery, actor);
  }

  refused(target: WebhookTarget, reason: string): void {
    const isKnown = reason !== "webhook_not_found";
    this.#refusals.count(isKnown ? target : undefined, reason);
  }

  get refusals(): Refusal[] {
    return this.#refusals.list();
  }

  #limit({ agent, schedule }: WebhookTarget, perMinute: number, now: Date): void {
    const wait = this.#rates.take(`${agent}/${schedule}`, perMinute, now);
    if (wait === undefined) return;
    throw new TooManyDeliveries(`this webhook takes ${perMinute} deliveries a minute`, wait);
  }

  /** Asked only after the signature was found wrong, so guesses never block a right sender. */
  #limitGuesses({ agent, schedule }: WebhookTarget, now: Date): void {
    const wait = this.#guesses.take(`${agent}/${schedule}`, wrongSignaturesPerMinute, now);
    if (wait === undefined) return;
    throw new TooManyDeliveries("too many deliveries with a wrong signature", wait);
  }
}

/** Told only to whom it may concern: the signature was good. */
function switchedOff({ agent, schedule }: WebhookTarget): UserError {
  return new UserError("webhook_off", "this webhook is switched off; nothing was taken", {
    hint: `Switch it on with \`herdctl schedules enable ${agent} ${schedule}\`, and send it again.`,
  });
}

export class TooManyDeliveries extends UserError {
  override readonly name = "TooManyDeliveries";

  constructor(
    message: string,
    /** Seconds. */
    readonly retryAfter: number,
  ) {
    super("too_many_deliveries", message);
  }
}
