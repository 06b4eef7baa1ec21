import { type Actor, identities } from "@herdctl/core/internal";
import type { Scope } from "@herdctl/protocol";

/** The caller of a request and its permissions. */
export interface Caller {
  actor: Actor;
  scope: Scope;
  /** Only these agents; null means all of them. */
  agents: readonly string[] | null;
  credential: Credential;
}

/** How the caller authenticated. `local` is the socket, which only the user that runs the fleet can open. */
type Credential =
  | { kind: "none" | "local" | "fleet_token" }
  | { kind: "token"; name: string }
  | { kind: "login"; id: string };

export function localCaller(): Caller {
  return {
    actor: { identity: identities.user(), origin: "socket" },
    scope: "admin",
    agents: null,
    credential: { kind: "local" },
  };
}

/** For routes that need no token. */
export function anonymousCaller(origin: string): Caller {
  return {
    actor: { identity: identities.anonymous, origin },
    scope: "read",
    agents: null,
    credential: { kind: "none" },
  };
}
