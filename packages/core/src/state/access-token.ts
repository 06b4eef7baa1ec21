import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { AuditEntry } from "./audit.ts";
import { scopes } from "./scopes.ts";

export const scopeSchema = z.enum(scopes);

const time = z.iso.datetime();

/** A token that someone created by name. Its secret is shown once and never stored. */
export const accessTokenSchema = z.object({
  name: z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/),
  scope: scopeSchema,
  /** Only these agents; null means all of them. */
  agents: z.array(z.string().min(1)).min(1).nullable(),
  created_at: time,
  created_by: z.string(),
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
});
export type AccessToken = z.infer<typeof accessTokenSchema>;

/** Lets people and secret scanners see what it is. */
export const tokenPrefix = "herd_";

export function newTokenSecret(): string {
  return tokenPrefix + randomBytes(32).toString("base64url");
}

/** A plain hash is enough: a secret of 256 random bits cannot be guessed from it. */
export function hashToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Every change is one transaction with its audit record. */
export interface TokenStore {
  create(token: AccessToken, hash: string, audit: AuditEntry): Promise<AccessToken>;
  /** By the hash of its secret; also one that has expired. */
  find(hash: string): Promise<AccessToken | undefined>;
  get(name: string): Promise<AccessToken | undefined>;
  /** By name. */
  list(): Promise<AccessToken[]>;
  /** False when there is no such token. */
  revoke(name: string, audit: AuditEntry): Promise<boolean>;
  used(name: string, at: Date): Promise<void>;
}
