import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Transform } from "node:stream";
import { UserError } from "@herdctl/protocol";
import type { RequestSigner } from "./providers/contract.ts";

/**
 * The credential sent upstream. `passthrough` forwards the client's own credential: this is how
 * subscriptions work, whose tokens herdctl does not hold.
 */
export type GatewayCredential =
  | { kind: "api_key"; value: string }
  | { kind: "auth_token"; value: string }
  | { kind: "passthrough" }
  /** Each request is signed for a provider. */
  | { kind: "signed"; signer: RequestSigner };

export const credentialHeaderNames: readonly string[] = ["x-api-key", "authorization"];

/** Rejects a key with spaces or line breaks early; otherwise every request would fail with it. */
export function checkCredential(credential: GatewayCredential): void {
  if (!("value" in credential) || /^[\x21-\x7e]+$/.test(credential.value)) return;
  throw new UserError(
    "config_invalid",
    "the API credential is empty or contains a space or a line break",
    {
      hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN again, without surrounding whitespace.",
    },
  );
}

export function createPlaceholder(): string {
  return `herdctl-${randomBytes(24).toString("hex")}`;
}

/**
 * Whether a request has the run's placeholder, or with `passthrough` any credential. `pathKey` is a
 * placeholder in the path, for clients that send no credential.
 */
export function isAuthorized(
  headers: IncomingHttpHeaders,
  credential: GatewayCredential,
  placeholder: string,
  pathKey?: string,
): boolean {
  const presented = [...presentedCredentials(headers), ...(pathKey === undefined ? [] : [pathKey])];
  if (credential.kind === "passthrough") return presented.length > 0;
  // defence: gateway-placeholder
  return presented.some((key) => equalsConstantTime(key, placeholder));
}

const pathKeyPrefix = "/run/";

/** The base path for clients that cannot send the placeholder in a header. */
export function placeholderPath(placeholder: string): string {
  return `${pathKeyPrefix}${placeholder}`;
}

/** Separates the placeholder from the rest of a request target. */
export function splitPathKey(target: string): { target: string; pathKey?: string } {
  const found = /^(?:http:\/\/localhost(?::\d+)?)?\/run\/(?<key>[A-Za-z0-9-]+)(?<rest>\/.*)$/s.exec(
    target,
  )?.groups;
  return found?.rest === undefined ? { target } : { target: found.rest, pathKey: found.key };
}

/** The secrets that requests with this credential contain. */
export function secretsOf(credential: GatewayCredential): readonly string[] {
  if (credential.kind === "signed") return credential.signer.secrets();
  return credential.kind === "passthrough" ? [] : [credential.value];
}

export function buildCredentialHeaders(credential: GatewayCredential): Record<string, string> {
  if (credential.kind === "api_key") return { "x-api-key": credential.value };
  if (credential.kind === "auth_token") return { authorization: `Bearer ${credential.value}` };
  return {};
}

function presentedCredentials(headers: IncomingHttpHeaders): string[] {
  const key = headers["x-api-key"];
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return [typeof key === "string" ? key : "", bearer ?? ""].filter((value) => value !== "");
}

function equalsConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A shorter secret could match ordinary text in a response. */
const minSecretLength = 16;

/**
 * Masks the real credential in responses, because an upstream may echo request headers. The
 * replacement has the same length, so that every content-length stays valid.
 */
export class CredentialMask {
  private readonly secrets: readonly Buffer[];

  constructor(secrets: readonly string[]) {
    this.secrets = secrets
      .filter(({ length }) => length >= minSecretLength)
      .map((secret) => Buffer.from(secret));
  }

  maskText(value: string): string {
    return this.secrets.reduce(
      (text, secret) => text.replaceAll(secret.toString(), "*".repeat(secret.length)),
      value,
    );
  }

  createStream(): Transform {
    let pending = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const bytes = this.bytes(pending.length === 0 ? chunk : Buffer.concat([pending, chunk]));
        const tail = this.partialMatchLength(bytes);
        pending = Buffer.from(bytes.subarray(bytes.length - tail));
        done(null, bytes.subarray(0, bytes.length - tail));
      },
      flush: (done) => done(null, pending),
    });
  }

  private bytes(chunk: Buffer): Buffer {
    return this.secrets.reduce(maskSecret, chunk);
  }

  /** The number of bytes at the end that may be the start of a secret. */
  private partialMatchLength(bytes: Buffer): number {
    return Math.max(0, ...this.secrets.map((secret) => partialMatchLength(bytes, secret)));
  }
}

function maskSecret(bytes: Buffer, secret: Buffer): Buffer {
  let found = bytes.indexOf(secret);
  if (found === -1) return bytes;
  const masked = Buffer.from(bytes);
  // defence: mask-echoed-key
  for (; found !== -1; found = masked.indexOf(secret, found))
    masked.fill("*", found, found + secret.length);
  return masked;
}

function partialMatchLength(bytes: Buffer, secret: Buffer): number {
  const [first] = secret;
  if (first === undefined) return 0;
  const next = (from: number) => bytes.indexOf(first, from);
  const earliest = Math.max(0, bytes.length - secret.length + 1);
  for (let start = next(earliest); start !== -1; start = next(start + 1)) {
    const tail = bytes.subarray(start);
    if (tail.equals(secret.subarray(0, tail.length))) return tail.length;
  }
  return 0;
}
