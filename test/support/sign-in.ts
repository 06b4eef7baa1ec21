import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A login as `claude` stores it, with invented tokens. Returns the file. */
export function signIn(configDir: string, accessToken = "sk-ant-oat01-rehearsal"): string {
  const login = {
    accessToken,
    refreshToken: "refresh",
    expiresAt: Date.now() + 3_600_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max",
  };
  const file = join(configDir, ".credentials.json");
  writeFileSync(file, JSON.stringify({ claudeAiOauth: login }), { mode: 0o600 });
  return file;
}
