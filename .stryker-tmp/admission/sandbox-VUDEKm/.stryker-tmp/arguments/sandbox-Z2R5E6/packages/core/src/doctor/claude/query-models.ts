import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Environment } from "@herdctl/config";
import { errorCode } from "@herdctl/protocol";
import { z } from "zod";
import { withTimeout } from "../../lib/timeout.ts";
import { upstreamOf } from "../../runner/execution/open-proxies.ts";
import {
  buildCredentialHeaders,
  checkCredential,
  type GatewayCredential,
} from "../../runner/gateway/credential.ts";
import { connectUpstream } from "../../runner/gateway/upstream.ts";

export type ApiResponse =
  | {
      kind: "answered";
      host: string;
      status: number;
      /** The message of an error response. */
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
