import { createHash } from "node:crypto";
import { type Environment, isStrongWebhookSecret } from "@herdctl/config";
import { type AcceptedDelivery, type Delivery, UserError } from "@herdctl/protocol";
import type { JobRequest } from "../../jobs/admission/admit.ts";
import { fillPrompt, valuesAt } from "../../jobs/prompt-template.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";

import type { DeliveryStore } from "../../store/sql/delivery-store.ts";
import type { JobStore } from "../../store/sql/job-store.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { firstNonEmptyText, type IncomingDelivery, readDelivery } from "./read-delivery.ts";
import { type RequestHeaders, type SignedRequest, verifySignature } from "./verify-signature.ts";
import type { WebhookSchedule, WebhookTarget } from "./webhook-schedule.ts";

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
  request: JobRequest,
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
  request: JobRequest | undefined,
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
): JobRequest | undefined {
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

type Signature = WebhookSchedule["signature"];

interface DeliveryKeys {
  key: string;
  /** The delivery may have arrived under this key shortly before. */
  previousWindowKey?: string;
}

const dedupWindowMs = 5 * 60_000;

/**
 * The key is the same for every transmission of a delivery: the sender's id, else the signed
 * content. If neither distinguishes two transmissions, equal bodies within five minutes count as
 * one.
 */
function deliveryKeys(
  target: WebhookTarget,
  signature: Signature,
  { headers, body, payload }: SignedRequest & { payload: unknown },
  now: Date,
): DeliveryKeys {
  const scope = `webhook:${target.agent}/${target.schedule}`;
  const id = deliveryIdReaders[signature.kind](headers, payload, signature);
  if (id) return { key: `${scope}:${/* defence: delivery-key */ normalizeId(id)}` };
  const content = createHash("sha256").update(body).digest("hex");
  const signedAt = headers["x-slack-request-timestamp"];
  if (signature.kind === "slack" && signedAt) return { key: `${scope}:${content}-${signedAt}` };
  const windowIndex = Math.floor(now.getTime() / dedupWindowMs);
  return {
    key: `${scope}:${content}-${windowIndex}`,
    previousWindowKey: `${scope}:${content}-${windowIndex - 1}`,
  };
}

const deliveryIdReaders: Record<
  Signature["kind"],
  (headers: RequestHeaders, payload: unknown, signature: Signature) => string | null | undefined
> = {
  github: (headers) => headers["x-github-delivery"],
  standard: (headers) => headers["webhook-id"],
  slack: (_, payload) => firstNonEmptyText(payload, "event_id"),
  hmac: readConfiguredId,
  token: readConfiguredId,
};

function readConfiguredId(
  headers: RequestHeaders,
  _: unknown,
  { id_header }: Signature,
): string | undefined {
  return id_header && headers[id_header.toLowerCase()];
}

/** A sender may use any id; the stored id is short and harmless. */
function normalizeId(id: string): string {
  if (/^[\w.:-]{1,200}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex");
}

type DeliveryDecision =
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

/** Events that require write access to the repository. */
const writeAccessEvents = new Set([
  "create",
  "delete",
  "deployment",
  "milestone",
  "push",
  "release",
  "repository_dispatch",
  "workflow_dispatch",
]);

/**
 * Actions on another person's issue that require rights. Authors can cause them on their issues
 * through a form.
 */
const triageActions = new Set([
  "assigned",
  "demilestoned",
  "labeled",
  "locked",
  "milestoned",
  "pinned",
  "transferred",
  "unassigned",
  "unlabeled",
  "unlocked",
  "unpinned",
]);

/** Paths of authored objects, innermost first. */
const authoredPaths = ["comment", "review", "discussion", "pull_request", "issue"];

/**
 * Returns undefined if the sender of a GitHub event may trigger an agent, else the reason why not.
 * GitHub reports the association of an object's author, not of the sender. So the sender must be
 * the author, or the event must require rights.
 */
function checkSender(
  event: string,
  payload: unknown,
  { associations, logins, anyone }: WebhookSchedule["allowed_senders"],
): string | undefined {
  // defence: actor-check
  if (anyone) return undefined;
  const sender = firstNonEmptyText(payload, "sender.login");
  if (sender === null) return "the payload names no sender";
  if (logins.some((login) => login.toLowerCase() === sender.toLowerCase())) return undefined;
  const [name = "", action = ""] = event.split(".");
  const association = senderAssociation(sender, name, action, payload);
  const isKnown = associations.some((allowed) => allowed === association);
  return isKnown ? undefined : `${sender} has the association ${association} with the repository`;
}

/** A sender with rights that GitHub does not name counts as a collaborator. */
function senderAssociation(
  sender: string,
  event: string,
  action: string,
  payload: unknown,
): string {
  if (writeAccessEvents.has(event)) return "COLLABORATOR";
  const authoredPath = authoredPaths.find((path) => valuesAt(payload, path).length > 0) ?? "";
  const isAuthor = firstNonEmptyText(payload, `${authoredPath}.user.login`) === sender;
  if (!isAuthor) return triageActions.has(action) ? "COLLABORATOR" : "unknown";
  return firstNonEmptyText(payload, `${authoredPath}.author_association`) ?? "unknown";
}
