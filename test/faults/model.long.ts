import { expect, test } from "vitest";
import { ownEngine } from "../support/engine.ts";
import { modelRuns } from "./model-run.ts";
import { recordSection } from "./proof.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.HERDCTL_LONG_MODEL_RUNS ?? 60);

test("random commands against a small model, with an engine that comes and goes", {
  retry: 0,
  timeout: 4 * 3_600_000,
}, async () => {
  const engine = await ownEngine();
  const began = Date.now();
  const told: string[] = [];
  const say = (line: string) => {
    told.push(line);
    process.stdout.write(`${told.length} ${line}\n`);
  };
  const failed = await modelRuns({ seed, runs, most: 14, engine, told: say }).catch(String);
  const complaints = failed ? [failed] : [];
  const took = Math.round((Date.now() - began) / 1000);
  const longest = told.map((line) => line.split(",").length);
  const table = [
    `${told.length} runs of ${longest.reduce((a, b) => a + b, 0)} commands: triggers, duplicates, ticks, clock jumps, suspends, kills, starts, cancels, reloads, a full disk, engine restarts.`,
  ];
  recordSection("model", { seed, took, planned: runs, run: told.length, complaints, table });
  expect(complaints).toEqual([]);
});
