import { test } from "vitest";
import { sampleCount } from "../support/test-subset.ts";
import { runModel } from "./run-random-commands.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? 8);

test(`ends everything it accepted once, for any order of commands (seed ${seed})`, async () => {
  await runModel({ seed, runs: sampleCount(8, 1 / 8), maxCommands: 10 });
}, 1_200_000);
