import { join } from "node:path";
import { findFleetFile, stateDirOf, UserError } from "@herdctl/core/light";
import { connectFleet, type FleetClient } from "@herdctl/server/client";
import { type Call, textOption } from "./command.ts";

export type { FleetClient } from "@herdctl/server/client";

export function fleetFileOf({ options, cwd }: Pick<Call, "options" | "cwd">): string {
  return findFleetFile({ config: textOption(options, "config"), cwd });
}

export function socketOf(stateDir: string): string {
  return join(stateDir, "herdctl.sock");
}

/** Undefined when no fleet runs here. Whoever gets one closes it. */
export function findFleet(call: Pick<Call, "options" | "cwd">): Promise<FleetClient | undefined> {
  return connectFleet(socketOf(stateDirOf(fleetFileOf(call))));
}

/** For what only a running fleet can do. */
export async function withFleet<T>(
  call: Call,
  work: (fleet: FleetClient) => Promise<T>,
): Promise<T> {
  const fleet = await findFleet(call);
  if (!fleet) throw await unreachable(stateDirOf(fleetFileOf(call)));
  try {
    return await work(fleet);
  } finally {
    fleet.close();
  }
}

async function unreachable(stateDir: string): Promise<UserError> {
  const { lockHolder } = await import("@herdctl/core/state");
  const holder = lockHolder(stateDir);
  if (!holder) return new UserError("fleet_unreachable", "no fleet runs here");
  return new UserError(
    "fleet_unreachable",
    `process ${holder.pid} works on this fleet but does not answer`,
    { hint: "It may be starting, stopping, or a `herdctl trigger` that runs alone: try again." },
  );
}
