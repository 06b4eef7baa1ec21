import type { Fleet } from "@herdctl/config";
import type { Approval, PlannedHook, PushSubscriptionRecord } from "@herdctl/protocol";
import { escapeInvisible, escapeInvisibleInline, formatInput } from "@herdctl/protocol";
import type { PushKeys } from "@herdctl/protocol/schemas";
import webPush from "web-push";
import { identities, reservedTokenNames } from "../store/model/identity.ts";
import type { StateManager } from "../store/state-manager.ts";
import { type HookAttempt, type HookResult, succeeded } from "./hook-attempt.ts";
import { httpPost } from "./http-post.ts";
import { truncate } from "./truncate.ts";

/** Notifications are not configured per agent, so all have the same limits. */
export const webPushHook = {
  type: "web_push",
  timeout: 15_000,
  retry: { max_attempts: 6, backoff: 1_000 },
} as const;

const projectPage = "https://herdctl.dev/";

export interface PushSettings {
  /** How push services reach the operator. */
  contact: string;
  allowPrivate: boolean;
}

/** Push services refuse a contact at this machine. */
export function pushSettings({ server }: Fleet): PushSettings {
  const { push, public_url } = server;
  const ownPage = public_url?.startsWith("https:") ? public_url : projectPage;
  return { contact: push.contact ?? ownPage, allowPrivate: push.allow_private };
}

export function generatePushKeys(): PushKeys {
  const { publicKey, privateKey } = webPush.generateVAPIDKeys();
  return { public_key: publicKey, private_key: privateKey };
}

/** One notification for each subscribed browser. */
export async function planPushes(
  state: StateManager,
  agent: string,
  cause: PlannedHook["cause"],
): Promise<PlannedHook[]> {
  const subscriptions = await state.push.list();
  return subscriptions.map(({ id }, position) => ({
    ...{ agent, event: "on_question", cause, position },
    ...{ type: "web_push", config_hash: id },
  }));
}

/** Encrypts the question for one browser (RFC 8291), and sends it to the browser's push service. */
export async function sendWebPush(
  state: StateManager,
  { contact, allowPrivate }: PushSettings,
  { run, context, signal }: HookAttempt,
): Promise<HookResult> {
  const subscription = await state.push.get(run.config_hash);
  if (!subscription) return succeeded("not sent: the browser has unsubscribed");
  // defence: push-owner
  if (!(await mayNotify(state, subscription))) {
    await state.push.remove(subscription.id);
    return succeeded("not sent: the login or token of the subscription has ended");
  }
  const keys = await state.push.ensureKeys(generatePushKeys);
  const expiresAt = context.question?.expires_at ?? context.timestamp;
  const { endpoint, headers, body } = webPush.generateRequestDetails(
    subscription,
    JSON.stringify(pushPayload(context)),
    {
      vapidDetails: {
        subject: contact,
        publicKey: keys.public_key,
        privateKey: keys.private_key,
      },
      TTL: Math.max(60, Math.ceil((Date.parse(expiresAt) - Date.now()) / 1_000)),
      urgency: "high",
    },
  );
  const result = await httpPost({
    url: endpoint,
    body: body ?? "",
    headers: lowerCaseNames(headers),
    allowPrivateHosts: allowPrivate,
    signal,
  });
  if (result.ok || !goneStatuses.includes(result.status ?? 0)) return result;
  await state.push.remove(subscription.id);
  return succeeded(`not sent: the browser has unsubscribed (${result.message})`);
}

/** The push service knows no such browser any more. */
const goneStatuses = [404, 410];

/** A subscription ends with the login or token that made it. */
async function mayNotify(
  state: StateManager,
  { created_by }: PushSubscriptionRecord,
): Promise<boolean> {
  const [kind, name = ""] = created_by.split(":", 2);
  if (kind === "login") {
    const logins = await state.logins.list();
    return logins.some(({ id }) => identities.login(id) === created_by);
  }
  if (kind !== "token" || reservedTokenNames.includes(name)) return true;
  const token = await state.tokens.get(name);
  return (
    token !== undefined && (token.expires_at === null || Date.parse(token.expires_at) > Date.now())
  );
}

const maxTitleLength = 120;
const maxTextLength = 500;

/** The JSON object that the service worker of the dashboard receives. Services allow 4,096 bytes. */
export function pushPayload({ job, url, question }: HookAttempt["context"]): object {
  return {
    title: truncate(question ? questionTitle(job.agent, question) : job.agent, maxTitleLength),
    body: truncate(question ? questionText(question) : "", maxTextLength),
    agent: job.agent,
    job: job.id,
    approval: question?.id ?? null,
    url,
  };
}

type AskedQuestion = Pick<Approval, "kind" | "tool" | "input" | "question">;

function questionTitle(agent: string, { kind, tool }: AskedQuestion): string {
  return kind === "permission"
    ? `${agent} wants to use ${escapeInvisibleInline(tool)}`
    : `${agent} has a question`;
}

function questionText({ kind, input, question }: AskedQuestion): string {
  return kind === "permission" ? formatInput(input) : escapeInvisible(question ?? "");
}

function lowerCaseNames(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
