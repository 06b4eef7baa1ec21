import { join } from "node:path";
import { findFleetFile, stateDirOf, UserError } from "@herdctl/protocol";
import { connectFleet, type FleetClient } from "@herdctl/protocol/client";
import { type CommandContext, textOption } from "./command.ts";

export type { FleetClient } from "@herdctl/protocol/client";

export function resolveFleetFile({
  options,
  cwd,
}: Pick<CommandContext, "options" | "cwd">): string {
  return findFleetFile({ config: textOption(options, "config"), cwd });
}

export function fleetSocketPath(stateDir: string): string {
  return join(stateDir, "herdctl.sock");
}

/** A client of the running fleet, which the caller must close; undefined if no fleet is running. */
export function findFleet(
  context: Pick<CommandContext, "options" | "cwd">,
): Promise<FleetClient | undefined> {
  return connectFleet({ file: resolveFleetFile(context) });
}

/** Runs the callback with a client of the running fleet, or throws `fleet_unreachable`. */
export async function withFleet<T>(
  context: CommandContext,
  callback: (fleet: FleetClient) => Promise<T>,
): Promise<T> {
  const fleet = await findFleet(context);
  if (!fleet) throw await unreachableError(stateDirOf(resolveFleetFile(context)));
  try {
    return await callback(fleet);
  } finally {
    fleet.close();
  }
}

async function unreachableError(stateDir: string): Promise<UserError> {
  const { readLockHolder } = await import("@herdctl/core/internal");
  const holder = readLockHolder(stateDir);
  if (!holder) return new UserError("fleet_unreachable", "the fleet is not running");
  return new UserError(
    "fleet_unreachable",
    `process ${holder.pid} uses this fleet but does not answer`,
    {
      hint: "The fleet may be starting or stopping, or a standalone `herdctl trigger` is running. Try again.",
    },
  );
}
