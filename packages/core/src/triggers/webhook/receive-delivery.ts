import type { Environment } from "../../config/environment.ts";
import { isStrongWebhookSecret } from "../../config/webhook-secrets.ts";
import { UserError } from "../../errors/user-error.ts";
import { failPoint } from "../../faults/fail-point.ts";
import type { TriggerRequest } from "../../queue/admit.ts";
import type { Admitted } from "../../state/admission.ts";
import type { DeliveryStore } from "../../state/contract.ts";
import type { Delivery, WantedDelivery } from "../../state/delivery.ts";
import type { JobStore } from "../../state/job-store.ts";
import { fillPrompt } from "../prompt-template.ts";
import { type DeliveryDecision, decideDelivery } from "./decide-delivery.ts";
import { type DeliveryKeys, deliveryKeys } from "./delivery-keys.ts";
import { keptHeaders } from "./kept-headers.ts";
import { firstText, type IncomingDelivery, readDelivery } from "./read-delivery.ts";
import { type Signed, verifySignature } from "./verify-signature.ts";
import type { WebhookSchedule, WebhookTarget } from "./webhook-schedule.ts";

/** What a delivery is received with. */
export interface DeliveryDesk {
  environment: Environment;
  jobs: Pick<JobStore, "findByKey">;
  deliveries: Pick<DeliveryStore, "record">;
  trigger: TriggerByDelivery;
  /** Called once the signature is known to be good; may refuse. */
  verified(): Promise<void>;
  /** Called for a delivery with a wrong signature; throws once there are too many of them. */
  notVerified(): void;
}

/** The job and the record of its delivery are one transaction. */
type TriggerByDelivery = (request: TriggerRequest, delivery: WantedDelivery) => Promise<Admitted>;

export type Receipt =
  | { kind: "recorded"; delivery: Delivery; admission?: Admitted }
  /** Slack asks whether somebody is there who knows its secret. */
  | { kind: "challenge"; answer: string };

/**
 * Verifies, decides, and then triggers or records only: a job and the record of its delivery are
 * durable together, and both are before the sender hears of it. Cut off in between, the same
 * delivery finds its job again by the key.
 */
export async function receiveDelivery(
  desk: DeliveryDesk,
  target: WebhookTarget,
  schedule: WebhookSchedule,
  signed: Signed,
  now: Date,
): Promise<Receipt> {
  const { signature } = schedule;
  const secrets = secretsOf(schedule, desk.environment);
  const wrong = verifySignature(signature, secrets, signed, now);
  if (wrong !== undefined) {
    desk.notVerified();
    throw new UserError("signature_wrong", wrong);
  }
  await desk.verified();
  failPoint("delivery verified");
  const read = readDelivery(signature, signed);
  const challenge = challengeOf(read);
  if (challenge !== null) return { kind: "challenge", answer: challenge };
  const decision = decideDelivery(read, schedule);
  const keys = deliveryKeys(target, signature, { ...signed, payload: read.payload }, now);
  const key = await keyInUse(desk, keys);
  const request = requestFor(target, schedule, read, decision, key);
  const incoming = {
    ...target,
    key,
    event: read.event,
    content_type: signed.headers["content-type"] ?? "",
    headers: keptHeaders(signed.headers, signature),
    bytes: signed.body.length,
    ...verdictOf(decision),
    replay_of: null,
    body: read.text,
  };
  return { kind: "recorded", ...(await recordWithJob(desk, incoming, request)) };
}

export async function recordWithJob(
  { trigger, deliveries }: Pick<DeliveryDesk, "trigger" | "deliveries">,
  incoming: WantedDelivery,
  request: TriggerRequest | undefined,
): Promise<{ delivery: Delivery; admission?: Admitted }> {
  if (!request) return { delivery: await deliveries.record({ ...incoming, job_id: null }) };
  const admission = await trigger(request, incoming);
  if (!admission.delivery) throw new Error("a delivery was not recorded with its job");
  return { delivery: admission.delivery, admission };
}

/** All that a body can change is what stands in the prompt as data. */
export function requestFor(
  target: WebhookTarget,
  schedule: WebhookSchedule,
  { event, payload }: IncomingDelivery,
  decision: DeliveryDecision,
  key: string,
): TriggerRequest | undefined {
  if (decision.kind === "unwanted") return undefined;
  const values = { payload, event: event ?? "", command: decision.command ?? "" };
  const prompt = schedule.prompt && fillPrompt(schedule.prompt, values, ["gate"]);
  return { trigger: "webhook", ...target, prompt, key };
}

export function verdictOf(decision: DeliveryDecision): Pick<Delivery, "verdict" | "reason"> {
  return decision.kind === "wanted"
    ? { verdict: "accepted", reason: null }
    : { verdict: "unwanted", reason: decision.reason };
}

function secretsOf({ signature }: WebhookSchedule, environment: Environment): string[] {
  const { kind, secret_env } = signature;
  const names = [secret_env].flat();
  const secrets = names.flatMap((name) => {
    const secret = environment[name];
    return secret !== undefined && isStrongWebhookSecret(kind, secret) ? [secret] : [];
  });
  if (secrets.length > 0) return secrets;
  throw new UserError(
    "secret_missing",
    "the secret of this webhook is not set or has fewer than 16 bytes",
  );
}

function challengeOf({ kind, payload }: IncomingDelivery): string | null {
  const asks = kind === "slack" && firstText(payload, "type") === "url_verification";
  return asks ? firstText(payload, "challenge") : null;
}

async function keyInUse({ jobs }: DeliveryDesk, { key, earlier }: DeliveryKeys): Promise<string> {
  return earlier !== undefined && (await jobs.findByKey(earlier)) ? earlier : key;
}
