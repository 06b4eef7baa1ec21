import { createHash, randomBytes } from "node:crypto";
import type { AccessToken, AuditEntry } from "@herdctl/protocol";
import { tokenPrefix } from "@herdctl/protocol/schemas";

export function newTokenSecret(): string {
  return tokenPrefix + randomBytes(32).toString("base64url");
}

/** A plain hash is enough: a secret of 256 random bits cannot be guessed. */
export function hashToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Every change is one transaction with its audit record. */
export interface TokenStore {
  create(token: AccessToken, hash: string, audit: AuditEntry): Promise<AccessToken>;
  /** Finds a token by the hash of its secret; also an expired one. */
  findByHash(hash: string): Promise<AccessToken | undefined>;
  get(name: string): Promise<AccessToken | undefined>;
  /** Sorted by name. */
  list(): Promise<AccessToken[]>;
  /** False if there is no such token. */
  revoke(name: string, audit: AuditEntry): Promise<boolean>;
  recordUse(name: string, at: Date): Promise<void>;
}
