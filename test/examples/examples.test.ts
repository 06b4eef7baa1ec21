import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testEngine } from "../support/engine.ts";
import { type Example, exampleFolder, examplesDir } from "./example.ts";
import { inChats } from "./in-chats.ts";
import { inContainers } from "./in-containers.ts";
import { onThisMachine } from "./on-this-machine.ts";
import { withGitHub } from "./with-github.ts";

const engine = await testEngine();

/** What is done with each, and what must have come of it. */
const runs: Record<string, (example: Example) => Promise<void>> = {
  ...onThisMachine,
  ...inChats,
  ...inContainers(engine),
  ...withGitHub(engine),
};

test("every folder of examples/ is run", () => {
  expect(Object.keys(runs).sort()).toEqual(readdirSync(examplesDir).sort());
});

describe.concurrent("as it stands, with the rehearsal model", () => {
  test.for(Object.entries(runs))(
    "the example %s works",
    { timeout: 300_000 },
    async ([name, run], { onTestFinished }) => {
      const example = exampleFolder(name, onTestFinished);
      await run(example);
      const jobs = await example.jobs();
      expect(jobs.filter(({ outcome }) => outcome?.code === "success")).not.toEqual([]);
      expect(jobs.filter(({ status }) => !["completed", "skipped"].includes(status))).toEqual([]);
    },
  );
});
