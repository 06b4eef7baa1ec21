// One turn through a running fleet, from the request at its socket to the recorded outcome.
import { atRest, inTurns } from "./measure.mjs";
import { herdctl, startFleet } from "./running-fleet.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";
import { timed } from "./trigger.mjs";

export const fleetSocket = () =>
  throughFleet("job at the socket", 1.1, ({ control }) => viaSocket(control));

/** A `claude` was started ahead of the job. */
export const fleetWarm = () =>
  throughFleet("the same, started ahead (warm: 1)", 0.5, ({ control }) => viaSocket(control), warm);

const warm = `version: 1
fleet: { name: bench }
agents:
  - { name: hello, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello, warm: 1 }
`;

export const fleetCommand = () =>
  throughFleet("trigger --wait with a fleet", 1.3, ({ stage }) =>
    timed(process.execPath, [herdctl, "trigger", "hello", "--wait", "--json"], stage),
  );

async function throughFleet(what, ratio, ours, fleetFile) {
  const stage = await rehearsedFleet({ fleetFile });
  const fleet = await startFleet(stage);
  try {
    const times = await inTurns(15, {
      ours: atRest(() => ours({ stage, control: fleet.control })),
      bare: atRest(() =>
        timed(bundledClaude(), ["-p", "hello", "--setting-sources", "user"], stage),
      ),
    });
    return { what, bareThing: "claude -p", ...times, bound: { ratio } };
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

async function viaSocket(control) {
  const began = performance.now();
  const { job } = await control.trigger({ trigger: "manual", agent: "hello" });
  const { status } = await control.wait(job.id);
  if (status !== "completed") throw new Error(`the job ended as ${status}`);
  return performance.now() - began;
}
