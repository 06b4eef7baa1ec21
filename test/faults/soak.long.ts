import { expect, test } from "vitest";
import { recordSection } from "./proof.ts";
import { growthOf, soak } from "./soak.ts";

/** An hour of the fleet's clock, whatever it takes here. */
const seconds = Number(process.env.HERDCTL_LONG_SOAK_SECONDS ?? 360);
const speed = Math.round(3600 / seconds);

test("an hour of schedules and triggers in a few minutes: every job ends, and memory stays flat", {
  retry: 0,
  timeout: (seconds + 600) * 1000,
}, async () => {
  const { looks, jobs, wrong } = await soak({ seconds, speed });
  const [memory, files] = [growthOf(looks, "megabytes"), growthOf(looks, "files")];
  const complaints = [
    ...wrong.map(({ kind, text }) => `${kind}: ${text}`),
    ...(memory > 1.15 ? [`memory grew by ${Math.round((memory - 1) * 100)} %`] : []),
    ...(files > 1.15 ? [`open files grew by ${Math.round((files - 1) * 100)} %`] : []),
  ];
  const every = Math.ceil(looks.length / 12);
  const rows = looks
    .filter((_, index) => index % every === 0)
    .map(({ minute, megabytes, files: open }) => `| ${minute} | ${megabytes} | ${open} |`);
  const table = [
    `${jobs} jobs; the clock of the fleet went ${speed} times as fast.`,
    "",
    "| minute | MB | open files |",
    "|--:|--:|--:|",
    ...rows,
  ];
  for (const line of table) process.stdout.write(`${line}\n`);
  const run = looks.length;
  recordSection("soak", { seed: 0, took: seconds, planned: 60, run, complaints, table });
  expect(complaints).toEqual([]);
});
