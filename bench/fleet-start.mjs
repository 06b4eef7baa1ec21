// From `herdctl start` until the fleet answers at its socket, with a thousand agents.
import { fleetOf } from "./many-agents.mjs";
import { inTurns, timeProgram } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const agents = 1_000;

export async function fleetStart() {
  const stage = await rehearsedFleet({ fleetFile: fleetOf(agents) });
  try {
    const times = await inTurns(7, {
      ours: () => started(stage),
      bare: async () => (await timeProgram(["-e", "0"])).milliseconds,
    });
    const what = `start a fleet of ${agents.toLocaleString("en")} agents`;
    return { what, bareThing: "node -e 0", ...times };
  } finally {
    await stage.dispose();
  }
}

async function started(stage) {
  const fleet = await startFleet(stage);
  await fleet.stop();
  return fleet.upAfter;
}
