import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Environment } from "../../config/environment.ts";
import { checkCredential, type GatewayCredential, headersFor } from "../../gateway/credential.ts";
import { connectUpstream } from "../../gateway/upstream.ts";
import { upstreamOf } from "../../runner/open-doors.ts";
import { withinTime } from "../../runner/within-time.ts";

export type ApiAnswer =
  | {
      kind: "answered";
      host: string;
      status: number;
      /** What it says to an error. */
      words: string | undefined;
      /** How far this machine's clock is ahead of its; undefined when it does not tell the time. */
      skew: number | undefined;
    }
  | { kind: "unreachable"; host: string; why: string };

const patience = 10_000;

/**
 * Asks the API for the list of its models, which costs nothing and takes a key. Without a
 * credential it is only asked whether it is there.
 */
export async function reachApi(
  env: Environment,
  credential: GatewayCredential | undefined,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const { upstream: address, upstreamSocket } = upstreamOf(env);
  if (credential) checkCredential(credential);
  const upstream = connectUpstream(address, upstreamSocket);
  const { host } = upstream.url;
  try {
    return await withinTime(signal, patience, async (limit) => {
      const began = Date.now();
      const request = upstream.request(
        credential ? "GET" : "HEAD",
        upstream.url.pathname.replace(/\/$/, "") + (credential ? "/v1/models?limit=1" : "/"),
        { host, "anthropic-version": "2023-06-01", ...(credential && headersFor(credential)) },
      );
      const stop = () => request.destroy(new Error("it did not answer in time"));
      limit.addEventListener("abort", stop, { once: true });
      request.end();
      const response = await responseOf(request);
      const skew = skewOf(response.headers.date, (began + Date.now()) / 2);
      const said = errorSchema.safeParse(parsed(await text(response))).data?.error.message;
      const words = masked(said, credential);
      return { kind: "answered", host, status: response.statusCode ?? 0, words, skew };
    });
  } catch (error) {
    return { kind: "unreachable", host, why: reasonOf(error) };
  } finally {
    upstream.close();
  }
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
}

const errorSchema = z.object({ error: z.object({ message: z.string().max(500) }) });

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Whoever answers may repeat what it was shown. */
function masked(said: string | undefined, credential: GatewayCredential | undefined) {
  return credential && "value" in credential ? said?.replaceAll(credential.value, "…") : said;
}

/** The header counts whole seconds, so on average it is half a second behind. */
function skewOf(date: string | undefined, here: number): number | undefined {
  const there = Date.parse(date ?? "");
  return Number.isNaN(there) ? undefined : here - (there + 500);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
