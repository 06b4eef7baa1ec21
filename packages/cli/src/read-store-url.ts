import { readFileSync } from "node:fs";
import type { CommandContext } from "./command.ts";
import { resolveFleetFile } from "./find-fleet.ts";

/** The address of the shared store; undefined for a fleet with an embedded store. */
export async function readStoreUrl(
  context: Pick<CommandContext, "options" | "cwd" | "env">,
): Promise<string | undefined> {
  const file = resolveFleetFile(context);
  // Most fleets have no shared store, and loading the whole configuration is slow.
  if (!/^["']?store["']?\s*:/m.test(readTextOrEmpty(file))) return undefined;
  const { loadFleet } = await import("@herdctl/core/internal");
  return loadFleet(file, context.env).fleet.store;
}

/** The caller reports an unreadable file when it loads the configuration. */
function readTextOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
