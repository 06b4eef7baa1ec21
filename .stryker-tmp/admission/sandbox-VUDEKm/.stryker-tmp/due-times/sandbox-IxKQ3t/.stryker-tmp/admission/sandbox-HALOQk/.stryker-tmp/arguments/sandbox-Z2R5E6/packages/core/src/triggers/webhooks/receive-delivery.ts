import { type Environment, isStrongWebhookSecret } from "@herdctl/config";
import {
  type AcceptedDelivery,
  type Delivery,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";
import { fillPrompt } from "../../jobs/prompt-template.ts";
import type { JobStore } from "../../store/contracts/job-store.ts";
import type { DeliveryStore } from "../../store/contracts/stores.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { type DeliveryDecision, decideDelivery } from "./decide-delivery.ts";
import { type DeliveryKeys, deliveryKeys } from "./delivery-keys.ts";
import { firstNonEmptyText, type IncomingDelivery, readDelivery } from "./read-delivery.ts";
import { type RequestHeaders, type SignedRequest, verifySignature } from "./verify-signature.ts";
import type { WebhookSchedule, WebhookTarget } from "./webhook-schedule.ts";

/** Dependencies of `receiveDelivery`. */
export interface ReceiveDeliveryDeps {
  environment: Environment;
  jobs: Pick<JobStore, "findByKey">;
  deliveries: Pick<DeliveryStore, "record">;
  trigger: TriggerForDelivery;
  /** Called after the signature was verified; may refuse the delivery. */
  onVerified(): Promise<void>;
  /** Called for a delivery with a wrong signature; throws if there are too many of them. */
  onSignatureRejected(): Promise<void>;
}

/** Stores the job and the record of its delivery in one transaction. */
type TriggerForDelivery = (
  request: TriggerRequest,
  delivery: AcceptedDelivery,
) => Promise<AdmissionResult>;

export type ReceiveResult =
  | { kind: "recorded"; delivery: Delivery; admission?: AdmissionResult }
  /** Slack checks that the endpoint knows its secret. */
  | { kind: "challenge"; answer: string };

/**
 * Verifies and decides, then triggers or only records. The job and the record of its delivery
 * become durable together, before the sender gets a response. If this is interrupted, a redelivery
 * finds its job by the key.
 */
export async function receiveDelivery(
  deps: ReceiveDeliveryDeps,
  target: WebhookTarget,
  schedule: WebhookSchedule,
  signed: SignedRequest,
  now: Date,
): Promise<ReceiveResult> {
  const { signature } = schedule;
  const secrets = readSecrets(schedule, deps.environment);
  const signatureError = verifySignature(signature, secrets, signed, now);
  if (signatureError !== undefined) {
    // defence: signature-failure-limit
    await deps.onSignatureRejected();
    throw new UserError("signature_wrong", signatureError);
  }
  await deps.onVerified();
  failPoint("delivery verified");
  const read = readDelivery(signature, signed);
  const challenge = readSlackChallenge(read);
  if (challenge !== null) return { kind: "challenge", answer: challenge };
  const decision = decideDelivery(read, schedule);
  const keys = deliveryKeys(target, signature, { ...signed, payload: read.payload }, now);
  const key = await chooseDeliveryKey(deps, keys);
  const request = buildTriggerRequest(target, schedule, read, decision, key);
  const incoming = {
    ...target,
    dedup_key: key,
    event: read.event,
    content_type: signed.headers["content-type"] ?? "",
    headers: keptHeaders(signed.headers, signature),
    bytes: signed.body.length,
    ...deliveryStatusOf(decision),
    replay_of: null,
    body: read.text,
  };
  return { kind: "recorded", ...(await recordWithJob(deps, incoming, request)) };
}

export async function recordWithJob(
  { trigger, deliveries }: Pick<ReceiveDeliveryDeps, "trigger" | "deliveries">,
  incoming: AcceptedDelivery,
  request: TriggerRequest | undefined,
): Promise<{ delivery: Delivery; admission?: AdmissionResult }> {
  if (!request) return { delivery: await deliveries.record({ ...incoming, job_id: null }) };
  const admission = await trigger(request, incoming);
  if (!admission.delivery) throw new Error("a delivery was not recorded with its job");
  return { delivery: admission.delivery, admission };
}

/** The body can change only the data in the prompt. */
export function buildTriggerRequest(
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

export function deliveryStatusOf(decision: DeliveryDecision): Pick<Delivery, "status" | "reason"> {
  return decision.kind === "wanted"
    ? { status: "accepted", reason: null }
    : { status: "unwanted", reason: decision.reason };
}

function readSecrets({ signature }: WebhookSchedule, environment: Environment): string[] {
  const { kind, secret_env } = signature;
  const names = [secret_env].flat();
  const secrets = names.flatMap((name) => {
    const secret = environment[name];
    return secret !== undefined &&
      /* defence: no-empty-secret */ isStrongWebhookSecret(kind, secret)
      ? [secret]
      : [];
  });
  if (secrets.length > 0) return secrets;
  throw new UserError(
    "secret_missing",
    "the secret of this webhook is not set or has fewer than 16 bytes",
  );
}

function readSlackChallenge({ kind, payload }: IncomingDelivery): string | null {
  const asks = kind === "slack" && firstNonEmptyText(payload, "type") === "url_verification";
  return asks ? firstNonEmptyText(payload, "challenge") : null;
}

async function chooseDeliveryKey(
  { jobs }: ReceiveDeliveryDeps,
  { key, previousWindowKey }: DeliveryKeys,
): Promise<string> {
  return previousWindowKey !== undefined && (await jobs.findByKey(previousWindowKey))
    ? previousWindowKey
    : key;
}

/**
 * Headers that describe a delivery. All others are dropped, because an unknown header may be a
 * secret.
 */
const keptHeaderNames = [
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

function keptHeaders(
  headers: RequestHeaders,
  { header, id_header }: WebhookSchedule["signature"],
): Record<string, string> {
  const names =
    id_header === undefined ? keptHeaderNames : [...keptHeaderNames, id_header.toLowerCase()];
  // defence: stored-headers
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return value === undefined || name === header?.toLowerCase() ? [] : [[name, value]];
    }),
  );
}
