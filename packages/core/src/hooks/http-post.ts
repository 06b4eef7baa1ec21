import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { errorCode } from "@herdctl/protocol";
import { isPublicAddress } from "../lib/public-address.ts";
import { failed, type HookResult, succeeded } from "./hook-attempt.ts";

interface HttpPostRequest {
  url: string;
  body: string | Buffer;
  headers?: Record<string, string>;
  allowPrivateHosts: boolean;
  signal: AbortSignal;
}

/**
 * Posts JSON, or what the headers say, once, to a public address unless private hosts are allowed. Does not follow redirects.
 */
export async function httpPost(request: HttpPostRequest): Promise<HookResult> {
  const url = new URL(request.url);
  try {
    if (!request.allowPrivateHosts) rejectPrivateIpLiteral(url);
    const response = await send(url, request);
    return toHookResult(response, await readResponseStart(response));
  } catch (error) {
    if (request.signal.aborted) return failed(String(request.signal.reason));
    if (error instanceof PrivateHostError) {
      const message = `${url.hostname} is a private address; set \`allow_private: true\` to allow it`;
      return failed(message, { isTransient: false });
    }
    return failed(`${url.host} could not be reached: ${reasonOf(error)}`);
  }
}

/** A literal IP address is never looked up, so it is checked here. */
function rejectPrivateIpLiteral({ hostname }: URL): void {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw new PrivateHostError(hostname);
}

function send(
  url: URL,
  { body, headers, allowPrivateHosts, signal }: HttpPostRequest,
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, {
      method: "POST",
      // A separate connection, so that no earlier one to another address is reused.
      agent: false,
      signal,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "herdctl",
        ...headers,
      },
      ...(allowPrivateHosts ? {} : { lookup: publicLookup }),
    });
    clientRequest.once("error", reject);
    clientRequest.once("response", resolve);
    clientRequest.end(body);
  });
}

const maxResponseChars = 2_000;

async function readResponseStart(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const part of response) {
    text += part;
    if (text.length > maxResponseChars) break;
  }
  return text.slice(0, maxResponseChars);
}

/** Statuses that may change with another attempt. */
const transientStatuses = [408, 425, 429];

function toHookResult(response: IncomingMessage, output: string): HookResult {
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return succeeded(`HTTP status ${status}`, output);
  if (status >= 300 && status < 400) {
    const message = `HTTP status ${status}: redirects are not followed`;
    return failed(message, { output, isTransient: false, status });
  }
  const isTransient = status >= 500 || transientStatuses.includes(status);
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"]);
  return failed(`HTTP status ${status}`, { output, isTransient, retryAfterMs, status });
}

/** Seconds, or a date. */
function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const waitMs = /^\d+(\.\d+)?$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - Date.now();
  return Number.isFinite(waitMs) && waitMs > 0 ? waitMs : undefined;
}

function reasonOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.message : "unknown");
}

/** The host is, or resolves to, an address that is not public. */
export class PrivateHostError extends Error {}

/**
 * Resolves a name and rejects all its addresses if one is private. The connection uses this lookup,
 * so it connects to an address that was checked.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "");
    const privateAddress = addresses.find(
      ({ address }) => /* defence: public-hook-addresses */ !isPublicAddress(address),
    );
    const [first] = addresses;
    if (privateAddress || !first) return callback(new PrivateHostError(hostname), "");
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
