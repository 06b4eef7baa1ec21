import { expect, onTestFinished, test } from "vitest";
import { recordSection } from "../chaos/results-report.ts";
import { startPrivatePostgres } from "../support/postgres.ts";
import { formatLines, formatTable, reportRows } from "./support/chaos-report.ts";
import { checkCluster } from "./support/check-cluster.ts";
import { runJobChaos } from "./support/job-chaos.ts";

const readNumber = (name: string, defaultValue: number) =>
  Number(process.env[`HERDCTL_LONG_${name}`] ?? defaultValue);
const seed = readNumber("SEED", Date.now() % 1_000_000);
const jobs = readNumber("STORM_JOBS", 1_000);
const timeoutMs = readNumber("STORM_SECONDS", 3_600) * 1000;
const agents = 50;

test(`ends every job once and runs one job per agent at a time: ${jobs} jobs of ${agents} agents on three nodes, a fault every few seconds`, {
  retry: 0,
  timeout: timeoutMs + 600_000,
}, async () => {
  process.stdout.write(`seed ${seed}\n`);
  const server = await startPrivatePostgres();
  const run = await runJobChaos({
    ...{ seed, jobs, agents, timeoutMs, realClaudeAgents: 5, capacity: 8, store: server.address },
    outage: { server, after: 60_000, lasts: 30_000 },
    onCleanup: onTestFinished,
  });
  const verdict = await checkCluster(run);
  const rows = { ...reportRows(run, verdict), outage: "the store was stopped for 30 s" };
  for (const line of [...formatLines(rows), ...verdict.violations])
    process.stdout.write(`${line}\n`);
  recordSection("storm", {
    ...{ seed, plannedCount: jobs, runCount: verdict.jobs.length, table: formatTable(rows) },
    seconds: Math.round(run.durationMs / 1000),
    complaints: verdict.violations,
  });
  expect(verdict.violations).toEqual([]);
  expect(verdict.jobs).toHaveLength(jobs);
});
