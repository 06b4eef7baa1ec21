import { type Actor, identities, type Scope } from "@herdctl/core";

/** Who asks, and what they may do. */
export interface Visitor {
  actor: Actor;
  scope: Scope;
  /** Only these agents; null means all of them. */
  agents: readonly string[] | null;
  credential: Credential;
}

/** What let them in. `local` is the socket, which only the user that runs the fleet can open. */
type Credential =
  | { kind: "none" | "local" | "fleet_token" }
  | { kind: "token"; name: string }
  | { kind: "login"; id: string };

export function localVisitor(): Visitor {
  return {
    actor: { identity: identities.user(), origin: "socket" },
    scope: "admin",
    agents: null,
    credential: { kind: "local" },
  };
}

/** For routes that need no token. */
export function anonymousVisitor(origin: string): Visitor {
  return {
    actor: { identity: identities.anonymous, origin },
    scope: "read",
    agents: null,
    credential: { kind: "none" },
  };
}
