import { expect, onTestFinished, test } from "vitest";
import { recordSection } from "../faults/proof.ts";
import { ownPostgres } from "../support/postgres.ts";
import { judgeNodes } from "./support/judge-nodes.ts";
import { stormOverNodes } from "./support/storm.ts";
import { asLines, asTable, storyRows } from "./support/storm-lines.ts";

const number = (name: string, usual: number) =>
  Number(process.env[`HERDCTL_LONG_${name}`] ?? usual);
const seed = number("SEED", Date.now() % 1_000_000);
const jobs = number("STORM_JOBS", 1_000);
const patience = number("STORM_SECONDS", 3_600) * 1000;
const agents = 50;

test(`three nodes, ${jobs} jobs of ${agents} agents, a node struck every few seconds: every job ends once, and no agent does two things at once`, {
  retry: 0,
  timeout: patience + 600_000,
}, async () => {
  process.stdout.write(`seed ${seed}\n`);
  const server = await ownPostgres();
  const story = await stormOverNodes({
    ...{ seed, jobs, agents, patience, real: 5, capacity: 8, store: server.address },
    outage: { server, after: 60_000, lasts: 30_000 },
    whenOver: onTestFinished,
  });
  const verdict = await judgeNodes(story);
  const rows = { ...storyRows(story, verdict), outage: "the store was stopped for 30 s" };
  for (const line of [...asLines(rows), ...verdict.wrong]) process.stdout.write(`${line}\n`);
  recordSection("storm", {
    ...{ seed, planned: jobs, run: verdict.jobs.length, table: asTable(rows) },
    took: Math.round(story.took / 1000),
    complaints: verdict.wrong,
  });
  expect(verdict.wrong).toEqual([]);
  expect(verdict.jobs).toHaveLength(jobs);
});
