import { spawn } from "node:child_process";
import { join } from "node:path";
import type { FleetControl } from "@herdctl/protocol";
import { connectFleet } from "@herdctl/protocol/client";
import { program, waitForExit } from "../cli/run-herdctl.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import type { Example } from "./run-example.ts";

/**
 * Starts `herdctl rehearse rehearsal.yaml -- herdctl start` and stops it at the end of the test.
 */
export async function startRehearsedFleet({
  folder,
  env,
  onCleanup,
}: Example): Promise<FleetControl> {
  const args = ["rehearse", "rehearsal.yaml", "--", "herdctl", "start"];
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = waitForExit(child);
  const socket = join(folder, ".herdctl/herdctl.sock");
  const connected = async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${JSON.stringify(await ended)}`);
    return await connectFleet({ socketPath: socket }).catch(() => undefined);
  };
  onCleanup(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return await waitUntil("the fleet to answer", connected, 60_000);
}
