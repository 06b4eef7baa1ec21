/** What an app must be allowed to do for an agent. */
export const neededScopes = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "files:read",
  "files:write",
  "im:history",
  "im:read",
  "reactions:write",
  "users:read",
];

const typeScopes: Record<string, string> = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
};

/** The kinds of rooms that an app may list; to ask for another would give an error and none at all. */
export function listedTypes(scopes: readonly string[]): string[] {
  return Object.keys(typeScopes).filter((type) => scopes.includes(typeScopes[type] ?? ""));
}
