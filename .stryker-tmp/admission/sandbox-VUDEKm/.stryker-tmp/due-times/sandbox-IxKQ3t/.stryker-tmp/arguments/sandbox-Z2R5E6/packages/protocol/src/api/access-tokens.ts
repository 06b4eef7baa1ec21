import type { AccessToken } from "../records/access-token.ts";
import type { Scope } from "../records/scopes.ts";

export interface NewAccessToken {
  name: string;
  scope: Scope;
  /** Only these agents. */
  agents?: readonly string[];
  /** An ISO 8601 time. Without it, the token is valid until it is revoked. */
  expires_at?: string;
}

export interface CreatedToken {
  token: AccessToken;
  /** Only in this response: it cannot be shown again. */
  secret: string;
}
