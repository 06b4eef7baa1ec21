import { UserError } from "@herdctl/core";
import type { Call } from "./command.ts";
import { findFleet } from "./fleet-access.ts";
import type { ServiceState } from "./service/contract.ts";

const patience = 60_000;
const lookEvery = 100;

/** A service that was started is not yet a fleet that works. */
export async function untilServiceAnswers(
  call: Call,
  look: () => Promise<ServiceState>,
  logs: string,
): Promise<ServiceState> {
  const deadline = Date.now() + patience;
  while (Date.now() < deadline) {
    const state = await look();
    if (state.pid !== null && (await answeringPid(call)) === state.pid) return state;
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
  }
  throw new UserError(
    "fleet_unreachable",
    "the service was started, but the fleet does not answer",
    {
      hint: `Look at what it says: \`${logs}\`.`,
    },
  );
}

async function answeringPid(call: Call): Promise<number | undefined> {
  const fleet = await findFleet(call);
  try {
    const status = await fleet?.status();
    return status?.fleet.state === "starting" ? undefined : status?.fleet.pid;
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}
