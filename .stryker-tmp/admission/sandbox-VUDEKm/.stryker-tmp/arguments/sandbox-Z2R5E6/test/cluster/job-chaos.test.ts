import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { formatLines, reportRows } from "./support/chaos-report.ts";
import { checkCluster } from "./support/check-cluster.ts";
import { runJobChaos } from "./support/job-chaos.ts";

await sharedPostgresAddress();

test("ends every job once and runs one job per agent at a time while two of three nodes fail", async () => {
  const store = await createTestDatabase();
  const run = await runJobChaos({
    ...{
      seed: 12,
      store,
      jobs: 40,
      agents: 10,
      realClaudeAgents: 1,
      capacity: 4,
      timeoutMs: 240_000,
    },
    ...{ maxFaults: 2, calmMs: [300, 1_500] },
    onCleanup: onTestFinished,
  });
  const verdict = await checkCluster(run);
  const { violations, jobs } = verdict;
  process.stdout.write(`${formatLines(reportRows(run, verdict)).join("\n")}\n`);
  expect(violations).toEqual([]);
  expect(jobs).toHaveLength(40);
}, 400_000);
