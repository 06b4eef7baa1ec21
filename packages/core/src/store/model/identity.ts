import { userInfo } from "node:os";

/** Who acts, and from where. The fleet determines both; they never come from the request. */
export interface Actor {
  /** One of `identities`. */
  identity: string;
  /** A network address, or the channel: `socket`, `process`, `discord`, `slack`. */
  origin: string;
  /** The name that the caller gives itself. It is recorded for readers; no decision uses it. */
  note?: string;
}

/** Names of the fleet's built-in tokens in `token:` identities; named tokens cannot use them. */
export const reservedTokenNames: readonly string[] = ["admin", "read", "mcp"];

/** All forms of an identity. */
export const identities = {
  anonymous: "anonymous",
  schedule: "schedule",
  webhook: "webhook",
  /** The fleet itself, such as when it notices that a configuration file has changed. */
  system: "system",
  user: () => `user:${currentUserName()}`,
  token: (name: string) => `token:${name}`,
  /** A browser that signed in with a login link. */
  login: (id: string) => `login:${id.slice(0, 8)}`,
  agent: (name: string) => `agent:${name}`,
  /** The platform confirms the id; anyone can choose a display name. */
  chat: (platform: string, { name, id }: { name: string; id: string }) =>
    `${platform}:${sanitizeName(name)}#${sanitizeName(id)}`,
};

const maxNameLength = 80;

/** Without invisible, control and direction characters, which could imitate another name. */
function sanitizeName(name: string): string {
  return name
    .replaceAll(/[\p{C}\p{Z}#]+/gu, " ")
    .trim()
    .slice(0, maxNameLength);
}

/**
 * Only the user that runs the fleet can use the socket, so requests over it come from that user.
 */
export function currentUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
