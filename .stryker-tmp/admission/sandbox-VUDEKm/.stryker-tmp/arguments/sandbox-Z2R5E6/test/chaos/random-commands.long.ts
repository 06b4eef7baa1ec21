import { expect, test } from "vitest";
import { startPrivateEngine } from "../support/docker-engine.ts";
import { recordSection } from "./results-report.ts";
import { type ModelRun, runModel } from "./run-random-commands.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.HERDCTL_LONG_MODEL_RUNS ?? 60);

test("matches a small model under random commands, with an engine that restarts", {
  retry: 0,
  timeout: 4 * 3_600_000,
}, async () => {
  const engine = await startPrivateEngine();
  const began = Date.now();
  const results: ModelRun[] = [];
  const say = (run: ModelRun) => {
    results.push(run);
    const end = run.failure === undefined ? "" : ` FAILED ${run.failure}`;
    process.stdout.write(`${results.length} (${run.seconds} s) ${run.commands.join(", ")}${end}\n`);
  };
  const failed = await runModel({ seed, runs, maxCommands: 14, engine, onRun: say }).catch(String);
  const complaints = failed ? [failed] : [];
  const took = Math.round((Date.now() - began) / 1000);
  const table = [
    `${results.length} runs of ${results.flatMap(({ commands }) => commands).length} commands: triggers, duplicates, ticks, clock jumps, suspends, kills, starts, cancels, reloads, a full disk, engine restarts.`,
  ];
  recordSection("model", {
    seed,
    seconds: took,
    plannedCount: runs,
    runCount: results.length,
    complaints,
    table,
  });
  expect(complaints).toEqual([]);
});
