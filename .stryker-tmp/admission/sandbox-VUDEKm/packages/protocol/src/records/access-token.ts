import { z } from "zod";
import { scopes } from "./scopes.ts";

export const scopeSchema = z.enum(scopes);

const time = z.iso.datetime();

/** A named token. Its secret is shown once and never stored. */
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

/** Lets people and secret scanners recognize a token. */
export const tokenPrefix = "herd_";
