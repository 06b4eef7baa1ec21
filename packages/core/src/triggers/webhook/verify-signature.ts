import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { webhookKey } from "../../config/webhook-secrets.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

export type Headers = Readonly<Record<string, string | undefined>>;

export interface Signed {
  headers: Headers;
  body: Buffer;
}

type Signature = WebhookSchedule["signature"];

/** What a delivery says of itself: what was signed, how, and the signatures it brings. */
interface Claim {
  presented: readonly (Buffer | undefined)[];
  expected(secret: string): Buffer;
  /** Seconds, where the scheme has a time. */
  timestamp?: string;
}

const window = 5 * 60;

/**
 * Undefined when one of the secrets signed exactly these bytes, not long ago; else what is wrong.
 * Every signature is held against every secret, so that the time taken tells neither.
 */
export function verifySignature(
  signature: Signature,
  secrets: readonly string[],
  signed: Signed,
  now: Date,
): string | undefined {
  const { presented, expected, timestamp } = claims[signature.kind](signed, signature);
  const fits = secrets
    .map(expected)
    .flatMap((right) => presented.map((given) => given !== undefined && equal(given, right)));
  if (!fits.includes(true)) return "the signature does not fit";
  if (timestamp === undefined) return undefined;
  const age = now.getTime() / 1000 - Number(timestamp);
  return Math.abs(age) <= window ? undefined : "the time of the signature is not within 5 minutes";
}

const claims: Record<Signature["kind"], (signed: Signed, signature: Signature) => Claim> = {
  github: ({ headers, body }) => ({
    presented: [hex(after("sha256=", headers["x-hub-signature-256"]))],
    expected: (secret) => hmac("sha256", secret, body),
  }),
  standard({ headers, body }) {
    const timestamp = seconds(headers["webhook-timestamp"]);
    const head = `${headers["webhook-id"] ?? ""}.${timestamp}.`;
    const given = (headers["webhook-signature"] ?? "").split(" ");
    return {
      presented: given.map((one) => base64(after("v1,", one))),
      expected: (secret) => hmac("sha256", webhookKey("standard", secret), head, body),
      timestamp,
    };
  },
  slack({ headers, body }) {
    const timestamp = seconds(headers["x-slack-request-timestamp"]);
    return {
      presented: [hex(after("v0=", headers["x-slack-signature"]))],
      expected: (secret) => hmac("sha256", secret, `v0:${timestamp}:`, body),
      timestamp,
    };
  },
  hmac({ headers, body }, { header = "", algorithm }) {
    const given = headers[header.toLowerCase()]?.trim();
    const bare = after(`${algorithm}=`, given) ?? given;
    return {
      presented: [hex(bare), base64(bare)],
      expected: (secret) => hmac(algorithm, secret, body),
    };
  },
  token({ headers }, { header = "authorization" }) {
    const given = headers[header.toLowerCase()];
    const token = after("Bearer ", given) ?? given;
    return {
      presented: [token === undefined ? undefined : digest(token)],
      expected: digest,
    };
  },
};

function hmac(algorithm: string, key: string | Buffer, ...parts: (string | Buffer)[]): Buffer {
  const sum = createHmac(algorithm, key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** Tokens of any length become equally long. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function equal(given: Buffer, right: Buffer): boolean {
  return given.length === right.length && timingSafeEqual(given, right);
}

function after(prefix: string, text: string | undefined): string | undefined {
  return text?.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

function hex(text: string | undefined): Buffer | undefined {
  return text && /^[0-9a-fA-F]+$/.test(text) ? Buffer.from(text, "hex") : undefined;
}

function base64(text: string | undefined): Buffer | undefined {
  return text && /^[0-9A-Za-z+/]+=*$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

/** What is no time at all is never recent. */
function seconds(text: string | undefined): string {
  return text !== undefined && /^\d{1,12}$/.test(text) ? text : "NaN";
}
