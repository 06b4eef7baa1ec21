import { join } from "node:path";
import { FleetManager, type FleetManagerOptions } from "@herdctl/core/internal";
import { onTestFinished } from "vitest";
import { claudeBinary } from "./claude-binaries.ts";
import type { TestHarness } from "./harness.ts";
import { type RegisterCleanup, tempFolderWith } from "./temp-folder.ts";

/**
 * Writes a fleet file beside the workspace; by default agents may do anything and retry quickly.
 */
export function writeFleetFile(
  harness: TestHarness,
  agents: string,
  fleet = "",
  claude = claudeBinary("325"),
  onCleanup: RegisterCleanup = onTestFinished,
): string {
  const text = `version: 1
fleet: { name: test ${keepAliveSetting(agents, fleet)}${fleet && `, ${fleet}`} }
claude_path: ${claude}
defaults:
  working_directory: ${harness.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
${agents}
`;
  const folder = tempFolderWith({ "herdctl.yaml": text }, onCleanup);
  return join(folder, "herdctl.yaml");
}

/** Most tests need no runner that is kept alive. */
function keepAliveSetting(agents: string, fleet: string): string {
  return /kept_alive|keep_alive/.test(agents + fleet) ? "" : ", max_keep_alive: 0";
}

/** Starts a fleet in this process and stops it at the end of the test. */
export async function startFleetInProcess(
  harness: TestHarness,
  file: string,
  options: Partial<FleetManagerOptions> = {},
): Promise<FleetManager> {
  const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const fleet = new FleetManager({ file, env, ...options });
  onTestFinished(() => fleet.shutdown({ drainMs: 0 }));
  await fleet.start();
  return fleet;
}
