import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { SeededRandom } from "./seeded-random.ts";
import { withCleanup } from "./with-cleanup.ts";

interface DamageHarness {
  harness: TestHarness;
  file: string;
  stateDir: string;
  /** The undamaged state; each case starts with a copy of it. */
  pristine: string;
  finished: string;
  unfinished: string;
}

export interface FileDamage {
  /** Path below the state directory. */
  name: string;
  /** Relative position in the file, from 0 to 1. */
  position: number;
  kind: keyof typeof damageKinds;
}

/** How the bytes from a position on are changed. */
const damageKinds = {
  "is cut off": (bytes: Buffer, from: number) => bytes.subarray(0, from),
  "has zeros": (bytes: Buffer, from: number) => changeBytesFrom(bytes, from, () => 0),
  "has other bytes": (bytes: Buffer, from: number) =>
    changeBytesFrom(bytes, from, (byte) => byte ^ 0x5a),
};

/** Changes up to 64 bytes. */
function changeBytesFrom(bytes: Buffer, from: number, change: (byte: number) => number): Buffer {
  return Buffer.from(bytes.map((byte, at) => (at < from || at >= from + 64 ? byte : change(byte))));
}

const positions = [0, 0.3, 0.7, 0.99];

export interface DamageResult {
  damage: FileDamage;
  violations: string[];
}

/**
 * Starts a fleet on a state with each damage in turn, in random order and at most `maxCount`. A case
 * mostly waits, and each position has a separate state, so they run concurrently.
 */
export async function runDamages(
  seed: number,
  maxCount = Number.POSITIVE_INFINITY,
): Promise<{ plannedCount: number; results: DamageResult[] }> {
  const parts = await Promise.all(
    positions.map(async (position) => {
      const slow = { text: "Done.", delay: { first: "500ms" } };
      const harness = await startDamageHarness(
        await startHarness({ script: { rules: [{ reply: slow }] } }),
      );
      const planned = listDamages(harness).filter((damage) => damage.position === position);
      const chosen = new SeededRandom(seed)
        .shuffled(planned)
        .slice(0, Math.ceil(maxCount / positions.length));
      const results: DamageResult[] = [];
      for (const damage of chosen) results.push(await runDamage(harness, damage));
      return { plannedCount: planned.length, results };
    }),
  );
  return {
    plannedCount: parts.reduce((sum, part) => sum + part.plannedCount, 0),
    results: parts.flatMap((part) => part.results),
  };
}

async function runDamage(harness: DamageHarness, damage: FileDamage): Promise<DamageResult> {
  const violations = await startOnDamagedState(harness, damage).catch((error) => [String(error)]);
  const wrong = violations.map((text) => ` WRONG ${text}`).join("");
  process.stdout.write(`${formatDamage(damage)}${wrong}\n`);
  return { damage, violations };
}

export function formatDamage(damage: FileDamage): string {
  return `${damageName(damage)} ${damage.kind} at ${damage.position}`;
}

export function damageName({ name }: FileDamage): string {
  return name.replace(/job-[^/]*/, "<id>");
}

/** Creates a state with one finished job and one whose fleet and runner were killed midway. */
async function startDamageHarness(harness: TestHarness): Promise<DamageHarness> {
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const stateDir = join(dirname(file), ".herdctl");
  const fleet = await startFleetProcess(harness, file);
  const { control } = fleet;
  const ask = { agent: "one" };
  const first = (await control.jobs.trigger({ ...ask, prompt: "Do the first." })).job;
  await control.jobs.wait(first.id);
  const second = (await control.jobs.trigger({ ...ask, prompt: "Do the second." })).job;
  const runner = await waitUntil("its runner at work", async () => {
    const job = (await control.jobs.get(second.id))?.job;
    const asked = harness.rehearsal.ledger.main.some(({ prompt }) => prompt?.includes("second"));
    return (asked && job?.runner) ?? undefined;
  });
  await fleet.kill();
  process.kill(runner.pid, "SIGKILL");
  const pristine = join(dirname(file), "pristine");
  cpSync(stateDir, pristine, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  return { harness, file, stateDir, pristine, finished: first.id, unfinished: second.id };
}

/** Every file of the state, at several positions, with every kind of damage that changes it. */
function listDamages({ pristine }: DamageHarness): FileDamage[] {
  const names = readdirSync(pristine, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"))
    .map((entry) => join(entry.parentPath, entry.name).slice(pristine.length + 1));
  return names.flatMap((name) => {
    const bytes = readFileSync(join(pristine, name));
    return positions
      .flatMap((position) => damageKindNames.map((kind) => ({ name, position, kind })))
      .filter((damage) => !applyDamage(bytes, damage).equals(bytes));
  });
}

function applyDamage(bytes: Buffer, { kind, position }: FileDamage): Buffer {
  return damageKinds[kind](bytes, Math.floor(bytes.length * position));
}

const damageKindNames = Object.keys(damageKinds) as (keyof typeof damageKinds)[];

/**
 * Starts a fleet on the damaged state. It must either refuse, report the damage and leave the state
 * unchanged, or start, list every job, settle the open ones and accept new work. Returns the
 * violations.
 */
async function startOnDamagedState(harness: DamageHarness, damage: FileDamage): Promise<string[]> {
  rmSync(harness.stateDir, { recursive: true });
  cpSync(harness.pristine, harness.stateDir, { recursive: true });
  const file = join(harness.stateDir, damage.name);
  const changed = applyDamage(readFileSync(file), damage);
  writeFileSync(file, changed);
  return withCleanup(async (onCleanup) => {
    const fleet = await startFleetProcess(harness.harness, harness.file, onCleanup).catch(
      (error: Error) => error,
    );
    if (!(fleet instanceof Error)) return checkRecovery(harness, fleet);
    return checkRefusal(fleet.message, readFileSync(file).equals(changed));
  });
}

function checkRefusal(output: string, isUntouched: boolean): string[] {
  const isReported = /damaged|newer herdctl|cannot be used/.test(output);
  return [
    ...(isReported ? [] : [`it says: ${output.slice(0, 500)}`]),
    ...(isUntouched ? [] : ["the damaged file was changed"]),
  ];
}

async function checkRecovery(
  { finished, unfinished }: DamageHarness,
  fleet: FleetProcess,
): Promise<string[]> {
  const { control } = fleet;
  const known = await control.jobs.get(finished);
  const ended = await waitUntil(
    "the end of the second",
    async () => {
      const job = (await control.jobs.get(unfinished))?.job;
      return job?.finished_at ? job : undefined;
    },
    120_000,
  ).catch(() => undefined);
  const request = { agent: "one", prompt: "Do the third." };
  const third = await control.jobs.wait((await control.jobs.trigger(request)).job.id);
  await fleet.stop();
  return [
    ...(known?.job.status === "completed" ? [] : [`the first is ${known?.job.status}`]),
    ...(ended ? [] : ["the second has no end"]),
    ...(third.status === "completed" ? [] : [`new work ended as ${third.outcome?.code}`]),
  ];
}
