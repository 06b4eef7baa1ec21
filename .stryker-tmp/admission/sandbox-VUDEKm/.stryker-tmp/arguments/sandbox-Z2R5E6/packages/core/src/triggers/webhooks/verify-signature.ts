import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { decodeWebhookKey } from "@herdctl/config";
import type { WebhookSchedule } from "./webhook-schedule.ts";

export type RequestHeaders = Readonly<Record<string, string | undefined>>;

export interface SignedRequest {
  headers: RequestHeaders;
  body: Buffer;
}

type Signature = WebhookSchedule["signature"];

/** The signatures that a request presents, and how to compute the expected one. */
interface PresentedSignature {
  presented: readonly (Buffer | undefined)[];
  expected(secret: string): Buffer;
  /** Seconds, if the scheme has a timestamp. */
  timestamp?: string;
}

const maxSignatureAgeSeconds = 5 * 60;

/**
 * Returns undefined if one of the secrets signed exactly these bytes recently, else the problem.
 * Every signature is compared with every secret, so that the time taken reveals nothing.
 */
export function verifySignature(
  signature: Signature,
  secrets: readonly string[],
  signed: SignedRequest,
  now: Date,
): string | undefined {
  const { presented, expected, timestamp } = signatureReaders[signature.kind](signed, signature);
  const matches = secrets
    .map(expected)
    .flatMap((expectedBytes) =>
      presented.map(
        (presentedBytes) => presentedBytes !== undefined && isEqual(presentedBytes, expectedBytes),
      ),
    );
  // defence: signature-required
  if (!matches.includes(true)) return "the signature does not match";
  if (timestamp === undefined) return undefined;
  const age = now.getTime() / 1000 - Number(timestamp);
  return /* defence: signature-age */ Math.abs(age) <= maxSignatureAgeSeconds
    ? undefined
    : "the timestamp of the signature is not within 5 minutes";
}

const signatureReaders: Record<
  Signature["kind"],
  (signed: SignedRequest, signature: Signature) => PresentedSignature
> = {
  github: ({ headers, body }) => ({
    presented: [decodeHex(stripPrefix("sha256=", headers["x-hub-signature-256"]))],
    expected: (secret) => hmac("sha256", secret, /* defence: signature-over-raw-body */ body),
  }),
  standard({ headers, body }) {
    const timestamp = parseTimestamp(headers["webhook-timestamp"]);
    const signedPrefix = `${headers["webhook-id"] ?? ""}.${timestamp}.`;
    const given = (headers["webhook-signature"] ?? "").split(" ");
    return {
      presented: given.map((signature) => decodeBase64(stripPrefix("v1,", signature))),
      expected: (secret) =>
        hmac("sha256", decodeWebhookKey("standard", secret), signedPrefix, body),
      timestamp,
    };
  },
  slack({ headers, body }) {
    const timestamp = parseTimestamp(headers["x-slack-request-timestamp"]);
    return {
      presented: [decodeHex(stripPrefix("v0=", headers["x-slack-signature"]))],
      expected: (secret) => hmac("sha256", secret, `v0:${timestamp}:`, body),
      timestamp,
    };
  },
  hmac({ headers, body }, { header = "", algorithm }) {
    const given = headers[header.toLowerCase()]?.trim();
    const withoutPrefix = stripPrefix(`${algorithm}=`, given) ?? given;
    return {
      presented: [decodeHex(withoutPrefix), decodeBase64(withoutPrefix)],
      expected: (secret) => hmac(algorithm, secret, body),
    };
  },
  token({ headers }, { header = "authorization" }) {
    const given = headers[header.toLowerCase()];
    const token = stripPrefix("Bearer ", given) ?? given;
    return {
      presented: [token === undefined ? undefined : sha256(token)],
      expected: sha256,
    };
  },
};

function hmac(algorithm: string, key: string | Buffer, ...parts: (string | Buffer)[]): Buffer {
  const mac = createHmac(algorithm, key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Makes tokens of any length equally long. */
function sha256(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function isEqual(actual: Buffer, expected: Buffer): boolean {
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function stripPrefix(prefix: string, text: string | undefined): string | undefined {
  return text?.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

function decodeHex(text: string | undefined): Buffer | undefined {
  return text && /^[0-9a-fA-F]+$/.test(text) ? Buffer.from(text, "hex") : undefined;
}

function decodeBase64(text: string | undefined): Buffer | undefined {
  return text && /^[0-9A-Za-z+/]+=*$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

/** An invalid timestamp is never recent. */
function parseTimestamp(text: string | undefined): string {
  return text !== undefined && /^\d{1,12}$/.test(text) ? text : "NaN";
}
