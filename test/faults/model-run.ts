import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { consultOracle } from "../oracle/oracle.ts";
import { insider } from "../support/container.ts";
import type { OwnEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import type { WhenOver } from "../support/folder.ts";
import { smallState } from "../support/small-state.ts";
import { stage } from "../support/stage.ts";
import { FleetUnderTest } from "./fleet-under-test.ts";
import { type Command, commands, type Model } from "./model.ts";
import { OtherClock } from "./other-clock.ts";
import { inScope } from "./scope.ts";
import { script } from "./task.ts";

export interface ModelRuns {
  seed: number;
  runs: number;
  most: number;
  engine?: OwnEngine;
  told?: (run: ModelRun) => void;
}

/** One run that is over, also one of those by which a failure is made shorter. */
export interface ModelRun {
  /** The commands that were carried out; those that made no sense by then were passed over. */
  ran: string[];
  seconds: number;
  /** Why it failed. */
  cause?: string;
}

/** Random runs of commands; one that fails is made as short as it can be, and told. */
export async function modelRuns({ seed, runs, most, engine, told }: ModelRuns): Promise<void> {
  const property = fc.asyncProperty(commands(most, engine !== undefined), async (sequence) => {
    const began = Date.now();
    const end = (cause?: string): ModelRun => ({
      ran: carriedOut(sequence),
      seconds: Math.round((Date.now() - began) / 1000),
      cause,
    });
    try {
      await inScope((whenOver) => runOnce(sequence, engine, whenOver));
    } catch (error) {
      told?.(end(String(error)));
      throw error;
    }
    told?.(end());
  });
  await fc.assert(property, { seed, numRuns: runs, includeErrorInReport: true });
}

type Sequence = Iterable<Command>;

async function runOnce(
  sequence: Sequence,
  engine: OwnEngine | undefined,
  whenOver: WhenOver,
): Promise<void> {
  const real = await makeFleet(whenOver, engine);
  await real.start();
  const model: Model = { fleet: "up", isFull: false, engine: engine ? "up" : "none", keys: [] };
  await fc.asyncModelRun(() => ({ model, real }), sequence);
  await bringToEnd(model, real);
  const { wrong } = await consultOracle(real.story);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 2));
}

/** A sequence that was run names what was carried out, and how to replay it. */
function carriedOut(sequence: Sequence): string[] {
  const [names = ""] = String(sequence).split("/*");
  return names.trim().split(",").filter(Boolean);
}

async function makeFleet(
  whenOver: WhenOver,
  engine: OwnEngine | undefined,
): Promise<FleetUnderTest> {
  const staged = await stage({ script }, whenOver);
  if (engine) shareWithInsider(staged.workspace);
  const file = fleetFile(staged, agentsOf(engine !== undefined), undefined, undefined, whenOver);
  const disk = smallState(file, whenOver);
  const clock = new OtherClock(join(staged.home, "clock.json"));
  const docker = engine && { DOCKER_HOST: engine.dockerHost };
  const on = { ...staged, env: { ...staged.env, ...clock.env, ...docker } };
  return new FleetUnderTest(on, file, disk, clock, engine, whenOver);
}

/** Agents on the host and in a container write their lines into one file. */
function shareWithInsider(workspace: string): void {
  const effects = join(workspace, "effects");
  writeFileSync(effects, "");
  for (const path of [workspace, effects]) chownSync(path, insider.uid, insider.gid);
}

function agentsOf(withEngine: boolean): string {
  const retry = "retry: { max_attempts: 99, backoff: 100ms }";
  const due = 'tick: { type: cron, cron: "*/20 * * * * *", catch_up: skip, prompt: Do the tick. }';
  return [
    `  - { name: here, runtime: cli, max_concurrent: 3, ${retry} }`,
    `  - { name: clock, runtime: sdk, ${retry}, schedules: { ${due} } }`,
    ...(withEngine
      ? [
          `  - { name: contained, runtime: cli, docker: { enabled: true, min_free_disk: 0k }, ${retry} }`,
        ]
      : []),
  ].join("\n");
}

/** Whatever was done to it is undone, and then it must end all it has taken. */
async function bringToEnd(model: Model, real: FleetUnderTest): Promise<void> {
  if (model.engine === "down") await real.engine?.start();
  real.disk.free();
  if (model.fleet === "suspended") real.suspend("SIGCONT");
  if (model.fleet === "down") await real.start();
  await real.running.control.switchSchedule({ agent: "clock", schedule: "tick" }, false);
  await real.takeScheduled();
  await real.allEnded();
  await real.stop();
}
