import { UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { findFleet } from "./find-fleet.ts";
import type { ServiceState } from "./service/contract.ts";

const startTimeoutMs = 60_000;
const pollIntervalMs = 100;

/** Waits until the fleet of the started service answers. */
export async function waitForService(
  context: CommandContext,
  readServiceState: () => Promise<ServiceState>,
  logs: string,
): Promise<ServiceState> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const state = await readServiceState();
    if (state.pid !== null && (await fetchFleetPid(context)) === state.pid) return state;
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
  throw new UserError(
    "fleet_unreachable",
    "the service was started, but the fleet does not answer",
    {
      hint: `Read its log: \`${logs}\`.`,
    },
  );
}

async function fetchFleetPid(context: CommandContext): Promise<number | undefined> {
  const fleet = await findFleet(context);
  try {
    const status = await fleet?.status();
    return status?.fleet.state === "starting" ? undefined : status?.fleet.pid;
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}
