import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Whether the user has signed in with `claude`. The file is never opened: what is in it is between
 * the binary and the vendor. On macOS the login lies in the keychain, which only the binary may ask.
 */
export function hasLogin(configDir: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === "darwin" || existsSync(loginFile(configDir));
}

export function loginFile(configDir: string): string {
  return join(configDir, ".credentials.json");
}
