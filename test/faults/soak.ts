import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { consultOracle } from "../oracle/oracle.ts";
import type { Wrong } from "../oracle/story.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { OtherClock } from "./other-clock.ts";
import { script } from "./task.ts";

export interface SoakPlan {
  /** How long it takes here, and how many times as fast the fleet's clock goes. */
  seconds: number;
  speed: number;
}

/** One look at the fleet process. */
export interface Look {
  /** Of the fleet's clock. */
  minute: number;
  megabytes: number;
  files: number;
}

export interface SoakEnd {
  looks: Look[];
  jobs: number;
  wrong: Wrong[];
}

/** A fleet with schedules that come due every minute and people that trigger, and its memory. */
export async function soak({ seconds, speed }: SoakPlan): Promise<SoakEnd> {
  const staged = await stage({ script, keepEntries: 100_000 });
  const clock = new OtherClock(join(staged.home, "clock.json"), speed);
  const on = { ...staged, env: { ...staged.env, ...clock.env } };
  const file = fleetFile(on, agents);
  const fleet = await fleetProgram(on, file);
  const looks: Look[] = [];
  const deadline = Date.now() + seconds * 1000;
  const between = 60_000 / speed;
  for (let minute = 1; Date.now() < deadline; minute += 1) {
    const request = { trigger: "manual" as const, agent: "asked", prompt: `Do ${minute}.` };
    await fleet.control.trigger({ ...request, key: `asked-${minute}` });
    await delay(between);
    looks.push({ minute, ...lookAt(fleet.pid) });
  }
  const accepted = await finish(fleet);
  const { wrong } = await consultOracle({ on, file, accepted, task: () => "Do " });
  return { looks, jobs: accepted.size, wrong: wrong.filter(isOfOneJob) };
}

/** All that were accepted have ended. */
async function finish(fleet: FleetProgram): Promise<Map<string, string>> {
  const { control } = fleet;
  await control.switchSchedule({ agent: "planned", schedule: "minutely" }, false);
  const accepted = await until(
    "the end of all jobs",
    async () => {
      const { jobs } = await control.jobs({ limit: 1000 });
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

/** Times are those of another clock than the model's, so what it asked when says nothing here. */
function isOfOneJob({ text }: Wrong): boolean {
  return !/asked at|overlap|given to the model/.test(text);
}

const retry = "retry: { max_attempts: 9, backoff: 1s }";
const agents = [
  `  - { name: asked, runtime: cli, ${retry} }`,
  `  - { name: planned, runtime: cli, ${retry}, schedules: { minutely: { type: cron, cron: "* * * * *", prompt: Do it. } } }`,
].join("\n");

function lookAt(pid: number): Omit<Look, "minute"> {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return {
    megabytes: Math.round(Number(kilobytes) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** What grows from the second third of the time to the last is not flat. */
export function growthOf(looks: readonly Look[], of: "megabytes" | "files"): number {
  const third = Math.floor(looks.length / 3);
  const middle = median(looks.slice(third, 2 * third).map((look) => look[of]));
  const last = median(looks.slice(2 * third).map((look) => look[of]));
  return last / middle;
}

function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
