import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { testEngine } from "../support/engine.ts";
import { testServer } from "../support/postgres.ts";
import { type Example, exampleFolder, examplesDir } from "./example.ts";
import { inChats } from "./in-chats.ts";
import { inContainers } from "./in-containers.ts";
import { hostilePage, onThisMachine } from "./on-this-machine.ts";
import { withGitHub } from "./with-github.ts";

const engine = await testEngine();
await testServer();

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

const fleets = readdirSync(examplesDir).filter((name) =>
  existsSync(join(examplesDir, name, "herdctl.yaml")),
);

test.each(fleets)("%s has safe defaults", (name) => {
  const env = { HERDCTL_STORE: "postgres://herd@db.example.org/herd" };
  const { agents } = loadFleet(join(examplesDir, name, "herdctl.yaml"), env).fleet;
  for (const agent of agents) {
    const isBounded = agent.max_budget_usd !== undefined || agent.credential === "subscription";
    expect(isBounded, `what a job of ${agent.name} may cost`).toBe(true);
    if (agent.docker.enabled) continue;
    expect(agent.permission_mode).not.toBe("bypassPermissions");
    // Without a path, each of them is for the whole machine.
    const everything = ["Bash", "Read", "Edit", "Write", "WebFetch"];
    expect(agent.allowed_tools.filter((tool) => everything.includes(tool))).toEqual([]);
  }
});

test.each(readdirSync(examplesDir))("the README of %s says how, and at what cost", (name) => {
  const readme = readFileSync(join(examplesDir, name, "README.md"), "utf8");
  const heads = [...readme.matchAll(/^## (.+)$/gm)].map(([, head]) => head);
  expect(heads).toEqual([
    ...["Without a key", expect.stringMatching(/^With (a key|keys|a subscription)$/)],
    "What it costs, what it touches",
  ]);
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

  test("the price watcher stays in its folder, whatever a page orders", async ({
    onTestFinished,
  }) => {
    await hostilePage(exampleFolder("price-watcher", onTestFinished));
  });
});
