import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fleetFile } from "../support/fleet-process.ts";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import type { Stage } from "../support/stage.ts";
import { inScope } from "./scope.ts";

export interface DamagedStage {
  on: Stage;
  file: string;
  stateDir: string;
  /** The state as it was left; each case begins with a copy of it. */
  pristine: string;
  finished: string;
  unfinished: string;
}

export interface Damage {
  /** Below the state directory. */
  name: string;
  /** How far into the file, from 0 to 1. */
  at: number;
  way: keyof typeof ways;
}

/** What becomes of the bytes from a place on. */
const ways = {
  "is cut off": (bytes: Buffer, from: number) => bytes.subarray(0, from),
  "has zeros": (bytes: Buffer, from: number) => changedFrom(bytes, from, () => 0),
  "has other bytes": (bytes: Buffer, from: number) =>
    changedFrom(bytes, from, (byte) => byte ^ 0x5a),
};

/** A piece of it is changed, at most to its end. */
function changedFrom(bytes: Buffer, from: number, change: (byte: number) => number): Buffer {
  return Buffer.from(bytes.map((byte, at) => (at < from || at >= from + 64 ? byte : change(byte))));
}

export const offsets = [0, 0.3, 0.7, 0.99];

/** A state with one job that is over and one whose fleet and runner were killed in the middle. */
export async function damagedStage(on: Stage): Promise<DamagedStage> {
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const stateDir = join(dirname(file), ".herdctl");
  const fleet = await fleetProgram(on, file);
  const { control } = fleet;
  const ask = { trigger: "manual" as const, agent: "one" };
  const first = (await control.trigger({ ...ask, prompt: "Do the first." })).job;
  await control.wait(first.id);
  const second = (await control.trigger({ ...ask, prompt: "Do the second." })).job;
  const runner = await until("its runner at work", async () => {
    const job = (await control.job(second.id))?.job;
    const asked = on.rehearsal.ledger.main.some(({ prompt }) => prompt?.includes("second"));
    return (asked && job?.runner) ?? undefined;
  });
  await fleet.kill();
  process.kill(runner.pid, "SIGKILL");
  const pristine = join(dirname(file), "pristine");
  cpSync(stateDir, pristine, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  return { on, file, stateDir, pristine, finished: first.id, unfinished: second.id };
}

/** Every file of the state, at several places, in every way. */
export function everyDamage({ pristine }: DamagedStage): Damage[] {
  const names = readdirSync(pristine, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"))
    .map((entry) => join(entry.parentPath, entry.name).slice(pristine.length + 1));
  return names.flatMap((name) =>
    offsets.flatMap((at) => wayNames.map((way) => ({ name, at, way }))),
  );
}

const wayNames = Object.keys(ways) as (keyof typeof ways)[];

/**
 * Starts a fleet on the damaged state. Either it refuses, says that the state is damaged and leaves
 * it as it is; or it comes up, knows every job, settles what was open and takes new work. What is
 * returned is wrong.
 */
export async function startOnDamage(on: DamagedStage, damage: Damage): Promise<string[]> {
  rmSync(on.stateDir, { recursive: true });
  cpSync(on.pristine, on.stateDir, { recursive: true });
  const file = join(on.stateDir, damage.name);
  const bytes = readFileSync(file);
  const changed = ways[damage.way](bytes, Math.floor(bytes.length * damage.at));
  writeFileSync(file, changed);
  return inScope(async (whenOver) => {
    const fleet = await fleetProgram(on.on, on.file, whenOver).catch((error: Error) => error);
    if (!(fleet instanceof Error)) return goesOnWrongly(on, fleet);
    return refusedWrongly(fleet.message, readFileSync(file).equals(changed));
  });
}

function refusedWrongly(said: string, isUntouched: boolean): string[] {
  const isSaid = /damaged|newer herdctl|cannot be used/.test(said);
  return [
    ...(isSaid ? [] : [`it says: ${said.slice(0, 500)}`]),
    ...(isUntouched ? [] : ["the damaged file was changed"]),
  ];
}

async function goesOnWrongly(
  { finished, unfinished }: DamagedStage,
  fleet: FleetProgram,
): Promise<string[]> {
  const { control } = fleet;
  const known = await control.job(finished);
  const ended = await until(
    "the end of the second",
    async () => {
      const job = (await control.job(unfinished))?.job;
      return job?.finished_at ? job : undefined;
    },
    120_000,
  ).catch(() => undefined);
  const request = { trigger: "manual" as const, agent: "one", prompt: "Do the third." };
  const third = await control.wait((await control.trigger(request)).job.id);
  await fleet.stop();
  return [
    ...(known?.job.status === "completed" ? [] : [`the first is ${known?.job.status}`]),
    ...(ended ? [] : ["the second has no end"]),
    ...(third.status === "completed" ? [] : [`new work ended as ${third.outcome?.code}`]),
  ];
}
