// From the request at the socket of a fleet with a spare to the first instruction of `claude`.
import { execFile } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { atRest, inTurns } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";

const run = promisify(execFile);

export async function spawnTime() {
  const stage = await rehearsedFleet();
  const program = join(stage.folder, "claude");
  writeFileSync(program, standIn);
  chmodSync(program, 0o755);
  const file = join(stage.folder, "herdctl.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}claude_path: ${program}\n`);
  const fleet = await startFleet(stage);
  const begun = async (work) => {
    const asked = now();
    await work();
    return Number(readFileSync(`${program}.began`, "utf8")) * 1_000 - asked;
  };
  try {
    const times = await inTurns(25, {
      ours: atRest(() => begun(() => finished(fleet.control))),
      bare: atRest(() => begun(() => run(program, ["-p", "hello"], { env: stage.env }))),
    });
    return { what: "trigger to spawn", beside: "spawn alone", ...times, bound: { median: 15 } };
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

/** Notes the time before anything else, then becomes the real one. */
const standIn = `#!/bin/bash
[ "$1" = --version ] || echo "$EPOCHREALTIME" > "$0.began"
exec "${bundledClaude()}" "$@"
`;

/** The time of day with fractions of a millisecond. */
const now = () => performance.timeOrigin + performance.now();

async function finished(control) {
  const { job } = await control.trigger({ trigger: "manual", agent: "hello" });
  const { status } = await control.wait(job.id);
  if (status !== "completed") throw new Error(`the job ended as ${status}`);
}
