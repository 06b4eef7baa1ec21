import { expect, test } from "vitest";
import { recordSection } from "./results-report.ts";
import { resourceGrowth, soak } from "./soak.ts";

/** The real duration of an hour of the fleet's clock. */
const seconds = Number(process.env.HERDCTL_LONG_SOAK_SECONDS ?? 360);
const speed = Math.round(3600 / seconds);

test("ends every job with flat memory over an hour of schedules and triggers at high speed", {
  retry: 0,
  timeout: (seconds + 600) * 1000,
}, async () => {
  const { samples, jobs, violations } = await soak({ seconds, speed });
  const [memory, files] = [resourceGrowth(samples, "megabytes"), resourceGrowth(samples, "files")];
  const complaints = [
    ...violations.map(({ kind, text }) => `${kind}: ${text}`),
    ...(memory > 1.15 ? [`memory grew by ${Math.round((memory - 1) * 100)} %`] : []),
    ...(files > 1.15 ? [`open files grew by ${Math.round((files - 1) * 100)} %`] : []),
  ];
  const every = Math.ceil(samples.length / 12);
  const rows = samples
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
  const run = samples.length;
  recordSection("soak", { seed: 0, seconds, plannedCount: 60, runCount: run, complaints, table });
  expect(complaints).toEqual([]);
});
