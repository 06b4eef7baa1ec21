/** The OAuth scopes an app needs. */
export const requiredScopes = [
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

const scopeByRoomType: Record<string, string> = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
};

/** The channel types that the app may list. Requesting any other type makes the whole request fail. */
export function listableRoomTypes(scopes: readonly string[]): string[] {
  return Object.keys(scopeByRoomType).filter((type) =>
    scopes.includes(scopeByRoomType[type] ?? ""),
  );
}
