import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { consultOracle } from "../invariants/check-invariants.ts";
import type { Violation } from "../invariants/observed-run.ts";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { script } from "./scripted-task.ts";
import { ShiftedClock } from "./shifted-clock.ts";

export interface SoakPlan {
  /** The real duration, and the speed of the fleet's clock. */
  seconds: number;
  speed: number;
}

/** One measurement of the fleet process. */
export interface ResourceSample {
  /** Minutes of the fleet's clock. */
  minute: number;
  megabytes: number;
  files: number;
}

export interface SoakResult {
  samples: ResourceSample[];
  jobs: number;
  violations: Violation[];
}

/** Runs a fleet with minutely schedules and manual triggers, and measures its memory. */
export async function soak({ seconds, speed }: SoakPlan): Promise<SoakResult> {
  const baseHarness = await startHarness({ script, maxEntries: 100_000 });
  const clock = new ShiftedClock(join(baseHarness.home, "clock.json"), speed);
  const harness = { ...baseHarness, env: { ...baseHarness.env, ...clock.env } };
  const file = writeFleetFile(harness, agents);
  const fleet = await startFleetProcess(harness, file);
  const samples: ResourceSample[] = [];
  const deadline = Date.now() + seconds * 1000;
  const intervalMs = 60_000 / speed;
  for (let minute = 1; Date.now() < deadline; minute += 1) {
    const request = { agent: "asked", prompt: `Do ${minute}.` };
    await fleet.control.jobs.trigger({ ...request, key: `asked-${minute}` });
    await delay(intervalMs);
    samples.push({ minute, ...sampleProcess(fleet.pid) });
  }
  const accepted = await waitForAllJobs(fleet);
  const { violations } = await consultOracle({ harness, file, accepted, taskText: () => "Do " });
  return { samples, jobs: accepted.size, violations: violations.filter(concernsSingleJob) };
}

/** Waits until all accepted jobs have ended. */
async function waitForAllJobs(fleet: FleetProcess): Promise<Map<string, string>> {
  const { control } = fleet;
  await control.schedules.disable({ agent: "planned", schedule: "minutely" });
  const accepted = await waitUntil(
    "the end of all jobs",
    async () => {
      const { jobs } = await control.jobs.list({ limit: 1000 });
      const known = jobs.map(({ id, idempotency_key }): [string, string] => [
        idempotency_key ?? id,
        id,
      ]);
      return jobs.every(({ finished_at }) => finished_at !== null) && new Map(known);
    },
    300_000,
  );
  await fleet.stop();
  return accepted;
}

/** The fleet's clock differs from the model's, so comparisons of times are meaningless here. */
function concernsSingleJob({ text }: Violation): boolean {
  return !/asked at|overlap|given to the model/.test(text);
}

const retry = "retry: { max_attempts: 9, backoff: 1s }";
const agents = [
  `  - { name: asked, runtime: cli, ${retry} }`,
  `  - { name: planned, runtime: cli, ${retry}, schedules: { minutely: { type: cron, cron: "* * * * *", prompt: Do it. } } }`,
].join("\n");

function sampleProcess(pid: number): Omit<ResourceSample, "minute"> {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return {
    megabytes: Math.round(Number(kilobytes) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** The growth from the second third of the time to the last. */
export function resourceGrowth(
  samples: readonly ResourceSample[],
  of: "megabytes" | "files",
): number {
  const third = Math.floor(samples.length / 3);
  const middle = median(samples.slice(third, 2 * third).map((sample) => sample[of]));
  const last = median(samples.slice(2 * third).map((sample) => sample[of]));
  return last / middle;
}

function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
