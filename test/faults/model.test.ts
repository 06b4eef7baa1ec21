import { test } from "vitest";
import { samples } from "../support/width.ts";
import { modelRuns } from "./model-run.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? 8);

test(`whatever happens to a fleet in whichever order (seed ${seed}): what it has taken ends once`, async () => {
  await modelRuns({ seed, runs: samples(8, 1 / 8), most: 10 });
}, 1_200_000);
