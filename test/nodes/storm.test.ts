import { expect, onTestFinished, test } from "vitest";
import { testDatabase, testServer } from "../support/postgres.ts";
import { judgeNodes } from "./support/judge-nodes.ts";
import { stormOverNodes } from "./support/storm.ts";
import { asLines, storyRows } from "./support/storm-lines.ts";

await testServer();

test("three nodes, two of which are struck while they work: every job ends once, and no agent does two things at once", async () => {
  const store = await testDatabase();
  const story = await stormOverNodes({
    ...{ seed: 12, store, jobs: 40, agents: 10, real: 1, capacity: 4, patience: 240_000 },
    ...{ blows: 2, calm: [300, 1_500] },
    whenOver: onTestFinished,
  });
  const verdict = await judgeNodes(story);
  const { wrong, jobs } = verdict;
  process.stdout.write(`${asLines(storyRows(story, verdict)).join("\n")}\n`);
  expect(wrong).toEqual([]);
  expect(jobs).toHaveLength(40);
}, 400_000);
