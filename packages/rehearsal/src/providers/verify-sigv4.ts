import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The only AWS keys that a rehearsal accepts. */
const rehearsalAwsKeys = {
  accessKeyId: "REHEARSALKEYID",
  secretAccessKey: "rehearsal-secret-access-key",
} as const;

interface SignedRequest {
  method: string;
  /** As it was received, with its query. */
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=(?<keyId>[^/,]+)\/(?<scope>(?<date>\d{8})\/(?<region>[^/,]+)\/(?<service>[^/,]+)\/aws4_request), SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/;

const maxClockSkewMs = 5 * 60_000;

/** Checks a SigV4 signature as AWS does. Returns the type of AWS's error, or undefined. */
export function verifySigV4(
  request: SignedRequest,
  service: string,
  now = Date.now(),
): { type: string; message: string } | undefined {
  const groups = authorizationPattern.exec(request.headers.authorization ?? "")?.groups;
  if (!groups) return incomplete("The authorization header is not a Signature Version 4.");
  const { keyId = "", scope = "", date = "", region = "", names = "", signature = "" } = groups;
  if (keyId !== rehearsalAwsKeys.accessKeyId)
    return {
      type: "UnrecognizedClientException",
      message: "The security token included in the request is invalid.",
    };
  if (groups.service !== service)
    return mismatch(`Credential should be scoped to correct service: '${service}'.`);
  const time = String(request.headers["x-amz-date"] ?? "");
  if (Math.abs(parseAmzDate(time) - now) > maxClockSkewMs) return mismatch("Signature expired.");
  const signedNames = names.split(";");
  if (!signedNames.includes("host")) return mismatch("'Host' must be a signed header.");
  const canonical = canonicalRequest(request, signedNames);
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const dateKey = hmac(`AWS4${rehearsalAwsKeys.secretAccessKey}`, date);
  const signingKey = hmac(hmac(hmac(dateKey, region), service), "aws4_request");
  const expected = hmac(signingKey, text);
  if (timingSafeEqual(expected, Buffer.from(signature, "hex"))) return undefined;
  return mismatch(
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.",
  );
}

function canonicalRequest({ method, target, headers, body }: SignedRequest, names: string[]) {
  const url = new URL(target, "http://rehearsal");
  // Outside S3, each segment of the path is encoded a second time.
  const path = (target.split("?")[0] ?? "/").split("/").map(encode).join("/");
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
  const lines = names.map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  return [method, path, query, lines.join(""), names.join(";"), sha256(body)].join("\n");
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function parseAmzDate(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!parts) return Number.NaN;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function incomplete(message: string) {
  return { type: "MissingAuthenticationTokenException", message };
}

function mismatch(message: string) {
  return { type: "InvalidSignatureException", message };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
