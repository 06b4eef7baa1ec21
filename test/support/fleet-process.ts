import { join } from "node:path";
import { FleetManager, type FleetManagerOptions } from "@herdctl/core";
import { onTestFinished } from "vitest";
import { claudeBinary } from "./claude.ts";
import { folderWith, type WhenOver } from "./folder.ts";
import type { Stage } from "./stage.ts";

/** A fleet file beside the stage's workspace; agents may do anything and retry quickly unless told otherwise. */
export function fleetFile(
  on: Stage,
  agents: string,
  fleet = "",
  claude = claudeBinary("325"),
  whenOver: WhenOver = onTestFinished,
): string {
  const text = `version: 1
fleet: { name: test, warm: false ${fleet && `, ${fleet}`} }
claude_path: ${claude}
defaults:
  working_directory: ${on.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
${agents}
`;
  const folder = folderWith({ "herdctl.yaml": text }, whenOver);
  return join(folder, "herdctl.yaml");
}

/** A fleet in this process, stopped when the test is over. */
export async function startFleet(
  on: Stage,
  file: string,
  options: Partial<FleetManagerOptions> = {},
): Promise<FleetManager> {
  const env = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const fleet = new FleetManager({ file, env, ...options });
  onTestFinished(() => fleet.stop({ drainMs: 0 }));
  await fleet.start();
  return fleet;
}
