import { userInfo } from "node:os";

/** Who acts, and from where. Both are established by the fleet, never taken from the request. */
export interface Actor {
  /** One of `identities`. */
  identity: string;
  /** A network address, or the channel: `socket`, `process`, `discord`, `slack`. */
  origin: string;
  /** What the caller calls itself. It is recorded for readers; nothing is decided by it. */
  note?: string;
}

/** Names that `token:` identities of the fleet's own tokens use; no named token can take them. */
export const reservedTokenNames: readonly string[] = ["admin", "read", "mcp"];

/** Every form that an identity has. */
export const identities = {
  anonymous: "anonymous",
  schedule: "schedule",
  webhook: "webhook",
  /** The fleet itself, such as when it notices that a configuration file has changed. */
  system: "system",
  user: () => `user:${userName()}`,
  token: (name: string) => `token:${name}`,
  /** A browser that signed in with a login link. */
  login: (id: string) => `login:${id.slice(0, 8)}`,
  agent: (name: string) => `agent:${name}`,
  /** The id is what the platform vouches for; anyone can choose a display name. */
  chat: (platform: string, { name, id }: { name: string; id: string }) =>
    `${platform}:${printable(name)}#${printable(id)}`,
};

const maxNameLength = 80;

/** Without invisible, control and direction characters, which could imitate another name. */
function printable(name: string): string {
  return name
    .replaceAll(/[\p{C}\p{Z}#]+/gu, " ")
    .trim()
    .slice(0, maxNameLength);
}

/** The socket admits only the user that runs the fleet, so that this is who asks over it. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
