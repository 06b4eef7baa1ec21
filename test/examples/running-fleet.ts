import { spawn } from "node:child_process";
import { join } from "node:path";
import type { FleetControl } from "@herdctl/core";
import { connectFleet } from "@herdctl/server/client";
import { endOf, program } from "../cli/herdctl.ts";
import { until } from "../support/fleet-program.ts";
import type { Example } from "./example.ts";

/** `herdctl rehearse rehearsal.yaml -- herdctl start`, ready to be asked; stopped when the test is over. */
export async function rehearsedFleet({ folder, env, whenOver }: Example): Promise<FleetControl> {
  const args = ["rehearse", "rehearsal.yaml", "--", "herdctl", "start"];
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = endOf(child);
  const socket = join(folder, ".herdctl/herdctl.sock");
  const connected = async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${JSON.stringify(await ended)}`);
    return await connectFleet(socket).catch(() => undefined);
  };
  whenOver(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return await until("the fleet to answer", connected, 60_000);
}
