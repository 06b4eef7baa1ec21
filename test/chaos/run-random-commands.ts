import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { consultOracle } from "../invariants/check-invariants.ts";
import type { PrivateEngine } from "../support/docker-engine.ts";
import { containerUser } from "../support/docker-harness.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { mountSmallStateDir } from "../support/small-state-disk.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import { type Command, commands, type Model } from "./command-model.ts";
import { FleetUnderTest } from "./fleet-under-test.ts";
import { script } from "./scripted-task.ts";
import { ShiftedClock } from "./shifted-clock.ts";
import { withCleanup } from "./with-cleanup.ts";

export interface ModelRunPlan {
  seed: number;
  runs: number;
  maxCommands: number;
  engine?: PrivateEngine;
  onRun?: (run: ModelRun) => void;
}

/** One finished run, including the runs of the shrinking phase. */
export interface ModelRun {
  /** The commands that ran; commands that the model did not allow were skipped. */
  commands: string[];
  seconds: number;
  /** Why the run failed. */
  failure?: string;
}

/** Runs random commands, shrinks a failure and reports it. */
export async function runModel({
  seed,
  runs,
  maxCommands,
  engine,
  onRun,
}: ModelRunPlan): Promise<void> {
  const property = fc.asyncProperty(
    commands(maxCommands, engine !== undefined),
    async (sequence) => {
      const began = Date.now();
      const end = (cause?: string): ModelRun => ({
        commands: executedCommands(sequence),
        seconds: Math.round((Date.now() - began) / 1000),
        failure: cause,
      });
      try {
        await withCleanup((onCleanup) => runOnce(sequence, engine, onCleanup));
      } catch (error) {
        onRun?.(end(String(error)));
        throw error;
      }
      onRun?.(end());
    },
  );
  await fc.assert(property, { seed, numRuns: runs, includeErrorInReport: true });
}

type Sequence = Iterable<Command>;

async function runOnce(
  sequence: Sequence,
  engine: PrivateEngine | undefined,
  onCleanup: RegisterCleanup,
): Promise<void> {
  const real = await createFleetUnderTest(onCleanup, engine);
  await real.start();
  const model: Model = { fleet: "up", isFull: false, engine: engine ? "up" : "none", keys: [] };
  await fc.asyncModelRun(() => ({ model, real }), sequence);
  await finishAllJobs(model, real);
  const { violations } = await consultOracle(real.observedRun);
  if (violations.length > 0) throw new Error(JSON.stringify(violations, null, 2));
}

/** The printed sequence names the commands that ran and how to replay them. */
function executedCommands(sequence: Sequence): string[] {
  const [names = ""] = String(sequence).split("/*");
  return names.trim().split(",").filter(Boolean);
}

async function createFleetUnderTest(
  onCleanup: RegisterCleanup,
  engine: PrivateEngine | undefined,
): Promise<FleetUnderTest> {
  const baseHarness = await startHarness({ script }, onCleanup);
  if (engine) shareWithContainerUser(baseHarness.workspace);
  const file = writeFleetFile(
    baseHarness,
    agentsYaml(engine !== undefined),
    undefined,
    undefined,
    onCleanup,
  );
  const disk = mountSmallStateDir(file, onCleanup);
  const clock = new ShiftedClock(join(baseHarness.home, "clock.json"));
  const docker = engine && { DOCKER_HOST: engine.dockerHost };
  const harness = { ...baseHarness, env: { ...baseHarness.env, ...clock.env, ...docker } };
  return new FleetUnderTest(harness, file, disk, clock, engine, onCleanup);
}

/** Agents on the host and in a container write their lines into one file. */
function shareWithContainerUser(workspace: string): void {
  const effects = join(workspace, "effects");
  writeFileSync(effects, "");
  for (const path of [workspace, effects]) chownSync(path, containerUser.uid, containerUser.gid);
}

function agentsYaml(withEngine: boolean): string {
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

/** Undoes every disturbance; then all accepted jobs must end. */
async function finishAllJobs(model: Model, real: FleetUnderTest): Promise<void> {
  if (model.engine === "down") await real.engine?.start();
  real.disk.free();
  if (model.fleet === "suspended") real.suspend("SIGCONT");
  if (model.fleet === "down") await real.start();
  await real.running.control.schedules.disable({ agent: "clock", schedule: "tick" });
  await real.recordScheduledJobs();
  await real.waitUntilAllEnded();
  await real.stop();
}
