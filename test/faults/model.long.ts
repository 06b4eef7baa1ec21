import { expect, test } from "vitest";
import { ownEngine } from "../support/engine.ts";
import { type ModelRun, modelRuns } from "./model-run.ts";
import { recordSection } from "./proof.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.HERDCTL_LONG_MODEL_RUNS ?? 60);

test("random commands against a small model, with an engine that comes and goes", {
  retry: 0,
  timeout: 4 * 3_600_000,
}, async () => {
  const engine = await ownEngine();
  const began = Date.now();
  const told: ModelRun[] = [];
  const say = (run: ModelRun) => {
    told.push(run);
    const end = run.cause === undefined ? "" : ` FAILED ${run.cause}`;
    process.stdout.write(`${told.length} (${run.seconds} s) ${run.ran.join(", ")}${end}\n`);
  };
  const failed = await modelRuns({ seed, runs, most: 14, engine, told: say }).catch(String);
  const complaints = failed ? [failed] : [];
  const took = Math.round((Date.now() - began) / 1000);
  const table = [
    `${told.length} runs of ${told.flatMap(({ ran }) => ran).length} commands: triggers, duplicates, ticks, clock jumps, suspends, kills, starts, cancels, reloads, a full disk, engine restarts.`,
  ];
  recordSection("model", { seed, took, planned: runs, run: told.length, complaints, table });
  expect(complaints).toEqual([]);
});
