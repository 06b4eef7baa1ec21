import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "../lib/public-address.ts";
import { failed, type HookResult, succeeded } from "./hook-result.ts";
import { PrivateHostError, publicLookup } from "./public-lookup.ts";

export interface Posted {
  url: string;
  body: string;
  headers?: Record<string, string>;
  allowPrivate: boolean;
  signal: AbortSignal;
}

/** Posts JSON once, to a public address unless told otherwise, and follows nobody elsewhere. */
export async function post(posted: Posted): Promise<HookResult> {
  const url = new URL(posted.url);
  try {
    if (!posted.allowPrivate) refuseLiteral(url);
    const response = await send(url, posted);
    return judge(response, await firstWords(response));
  } catch (error) {
    if (posted.signal.aborted) return failed(String(posted.signal.reason));
    if (error instanceof PrivateHostError) {
      const message = `${url.hostname} is a private address; \`allow_private: true\` lets it be used`;
      return failed(message, { mayPass: false });
    }
    return failed(`${url.host} could not be reached: ${reasonOf(error)}`);
  }
}

/** An address that is written out is looked up by nobody. */
function refuseLiteral({ hostname }: URL): void {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw new PrivateHostError(hostname);
}

function send(url: URL, { body, headers, allowPrivate, signal }: Posted): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      // A connection of its own, so that no earlier one to another address is used again.
      agent: false,
      signal,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "herdctl",
        ...headers,
      },
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    });
    sent.once("error", reject);
    sent.once("response", resolve);
    sent.end(body);
  });
}

const mostWords = 2_000;

async function firstWords(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const part of response) {
    text += part;
    if (text.length > mostWords) break;
  }
  return text.slice(0, mostWords);
}

/** Statuses that may be others the next time. */
const passing = [408, 425, 429];

function judge(response: IncomingMessage, output: string): HookResult {
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return succeeded(`answered ${status}`, output);
  if (status >= 300 && status < 400) {
    const message = `answered ${status}: it wants to be asked elsewhere, and redirects are not followed`;
    return failed(message, { output, mayPass: false });
  }
  const mayPass = status >= 500 || passing.includes(status);
  const retryAfter = waitOf(response.headers["retry-after"]);
  return failed(`answered ${status}`, { output, mayPass, retryAfter });
}

/** Seconds, or a date. */
function waitOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+(\.\d+)?$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - Date.now();
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
