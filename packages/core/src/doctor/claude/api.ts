import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Environment } from "@herdctl/config";
import { errorCode, UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { CredentialChoice } from "../../claude/credential.ts";
import { withTimeout } from "../../lib/timeout.ts";
import { upstreamOf } from "../../runner/execution/open-proxies.ts";
import {
  buildCredentialHeaders,
  checkCredential,
  type GatewayCredential,
} from "../../runner/gateway/credential.ts";
import { connectUpstream } from "../../runner/gateway/forward-request.ts";
import { type Finding, failed, notChecked, ok, warning } from "../check.ts";
import { type AgentCredential, credentialVariable } from "./binary.ts";
import { checkProvider } from "./provider.ts";

export interface ApiCheckResult {
  findings: Finding[];
  /** How far this machine's clock is ahead of the API's. */
  clockSkewMs: number | undefined;
}

/** Checks whether the API responds and accepts the keys of all agents. The requests are free. */
export async function checkApi(
  signIns: readonly AgentCredential[],
  env: Environment,
  signal: AbortSignal,
): Promise<ApiCheckResult> {
  const usableChoices = signIns.map(({ choice }) => choice).filter(({ kind }) => kind !== "none");
  const providers = usableChoices.flatMap((choice) =>
    choice.kind === "provider" ? [choice.provider] : [],
  );
  const providerFindings = Promise.all(
    providers.map((provider) => checkProvider(provider, env, signal)),
  );
  if (providers.length > 0 && providers.length === usableChoices.length)
    return { findings: await providerFindings, clockSkewMs: undefined };
  const keys = usableChoices.filter((choice) => choice.kind === "api_key");
  const distinctKeys = [...new Map(keys.map((key) => [key.upstream.value, key])).values()];
  const credentialsToTry: (CredentialChoice | undefined)[] =
    distinctKeys.length > 0 ? distinctKeys : [undefined];
  const answers = await Promise.all(
    credentialsToTry.map((choice) => queryApi(choice, env, signal)),
  );
  const subscriptions = usableChoices.filter(({ kind }) => kind === "subscription").slice(0, 1);
  return {
    findings: [
      ...answers.map(({ finding }) => finding),
      ...subscriptions.map(subscriptionFinding),
      ...(await providerFindings),
    ],
    clockSkewMs: answers.find(({ clockSkewMs }) => clockSkewMs !== undefined)?.clockSkewMs,
  };
}

async function queryApi(
  choice: CredentialChoice | undefined,
  env: Environment,
  signal: AbortSignal,
) {
  const credential = choice?.kind === "api_key" ? choice.upstream : undefined;
  try {
    const answer = await queryModels(env, credential, signal);
    const variable = choice && credentialVariable(choice);
    const hasProxy = [env.HTTPS_PROXY, env.https_proxy, env.ALL_PROXY].some(Boolean);
    const finding = evaluateAnswer(answer, { variable, hasProxy });
    return { finding, clockSkewMs: answer.kind === "answered" ? answer.clockSkewMs : undefined };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { finding: failed("api", `${error.message}.`, error.hint), clockSkewMs: undefined };
  }
}

interface ApiRequestContext {
  /** The variable with the key; undefined if the request had none. */
  variable: string | undefined;
  /** `claude` itself may use a proxy; this check does not. */
  hasProxy: boolean;
}

export function evaluateAnswer(
  answer: ApiResponse,
  { variable, hasProxy }: ApiRequestContext,
): Finding {
  const name = "api";
  const { host } = answer;
  if (answer.kind === "unreachable") {
    const message = `${host} cannot be reached (${answer.reason}).`;
    const hint = "Check the network, ANTHROPIC_BASE_URL, and any firewall in between.";
    if (variable === undefined && hasProxy)
      return notChecked(name, `${message} It may be reachable through the proxy.`);
    return failed(name, message, hint);
  }
  const { status, errorMessage } = answer;
  const answerText = errorMessage === undefined ? String(status) : `${status}: ${errorMessage}`;
  if (variable === undefined) return ok(name, `${host} responds.`);
  if (status === 200)
    return ok(name, `${host} accepts the key in ${variable}; the request was free.`);
  if (status === 401 || status === 403) {
    const hint = `Set ${variable} to a valid key; you create keys in the console of the API.`;
    return failed(name, `${host} rejects the key in ${variable} (${answerText}).`, hint);
  }
  if (status === 404 || status === 405) {
    const hint = "Trigger a job to see whether it accepts the key.";
    return notChecked(
      name,
      `${host} responds, but has no list of models: the key was not checked.`,
      hint,
    );
  }
  return warning(
    name,
    `${host} responds with ${answerText}: the key was not checked.`,
    "Try again later.",
  );
}

/** Only `claude` may use the tokens of a subscription. */
function subscriptionFinding(): Finding {
  return notChecked(
    "subscription",
    "Not checked, because only `claude` itself may use it.",
    "Run `claude` and type `/status`, or trigger a job.",
  );
}

type ApiResponse =
  | {
      kind: "answered";
      host: string;
      status: number;
      errorMessage: string | undefined;
      /** How far this machine's clock is ahead of the API's; undefined without a `Date` header. */
      clockSkewMs: number | undefined;
    }
  | { kind: "unreachable"; host: string; reason: string };

const timeoutMs = 10_000;

/**
 * Requests the API's list of models, which is free but needs a key. Without a credential, only checks
 * whether the API responds.
 */
export async function queryModels(
  env: Environment,
  credential: GatewayCredential | undefined,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { upstream: address, upstreamSocket } = upstreamOf(env);
  if (credential) checkCredential(credential);
  const upstream = connectUpstream(address, upstreamSocket);
  const { host } = upstream.url;
  try {
    return await withTimeout(signal, timeoutMs, async (limit) => {
      const startedAt = Date.now();
      const request = upstream.request(
        credential ? "GET" : "HEAD",
        upstream.url.pathname.replace(/\/$/, "") + (credential ? "/v1/models?limit=1" : "/"),
        {
          host,
          "anthropic-version": "2023-06-01",
          ...(credential && buildCredentialHeaders(credential)),
        },
      );
      const abort = () => request.destroy(new Error("no response in time"));
      limit.addEventListener("abort", abort, { once: true });
      request.end();
      const response = await waitForResponse(request);
      const clockSkewMs = computeClockSkew(response.headers.date, (startedAt + Date.now()) / 2);
      const rawMessage = errorSchema.safeParse(parseJson(await text(response))).data?.error.message;
      const errorMessage = maskCredential(rawMessage, credential);
      return {
        kind: "answered",
        host,
        status: response.statusCode ?? 0,
        errorMessage,
        clockSkewMs,
      };
    });
  } catch (error) {
    return { kind: "unreachable", host, reason: errorReason(error) };
  } finally {
    upstream.close();
  }
}

function waitForResponse(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
}

const errorSchema = z.object({ error: z.object({ message: z.string().max(500) }) });

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The server may repeat the credential in its error message. */
function maskCredential(rawMessage: string | undefined, credential: GatewayCredential | undefined) {
  return credential && "value" in credential
    ? rawMessage?.replaceAll(credential.value, "…")
    : rawMessage;
}

/** The `Date` header has whole seconds, so on average it is half a second behind. */
function computeClockSkew(date: string | undefined, localTime: number): number | undefined {
  const serverTime = Date.parse(date ?? "");
  return Number.isNaN(serverTime) ? undefined : localTime - (serverTime + 500);
}

function errorReason(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.message : String(error));
}
