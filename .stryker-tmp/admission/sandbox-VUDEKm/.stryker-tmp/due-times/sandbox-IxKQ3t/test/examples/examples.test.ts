import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { chatExamples } from "./chat-examples.ts";
import { containerExamples } from "./container-examples.ts";
import { gitHubExamples } from "./github-examples.ts";
import { hostExamples, runHostilePage } from "./host-examples.ts";
import { copyExample, type Example, examplesDir } from "./run-example.ts";

const engine = await sharedEngine();
await sharedPostgresAddress();

/** How each example is run, and the expected result. */
const runs: Record<string, (example: Example) => Promise<void>> = {
  ...hostExamples,
  ...chatExamples,
  ...containerExamples(engine),
  ...gitHubExamples(engine),
};

test("runs every folder of examples/", () => {
  expect(Object.keys(runs).sort()).toEqual(readdirSync(examplesDir).sort());
});

const fleets = readdirSync(examplesDir).filter((name) =>
  existsSync(join(examplesDir, name, "herdctl.yaml")),
);

test.each(fleets)("has safe defaults in %s", (name) => {
  const env = { HERDCTL_STORE: "postgres://herd@db.example.org/herd" };
  const { agents } = loadFleet(join(examplesDir, name, "herdctl.yaml"), env).fleet;
  for (const agent of agents) {
    const isBounded = agent.max_budget_usd !== undefined || agent.credential === "subscription";
    expect(isBounded, `what a job of ${agent.name} may cost`).toBe(true);
    if (agent.docker.enabled) continue;
    expect(agent.permission_mode).not.toBe("bypassPermissions");
    // Without a path pattern these apply to the whole machine.
    const everything = ["Bash", "Read", "Edit", "Write", "WebFetch"];
    expect(agent.allowed_tools.filter((tool) => everything.includes(tool))).toEqual([]);
  }
});

test.each(readdirSync(examplesDir))("states the steps and the cost in the README of %s", (name) => {
  const readme = readFileSync(join(examplesDir, name, "README.md"), "utf8");
  const heads = [...readme.matchAll(/^## (.+)$/gm)].map(([, head]) => head);
  expect(heads).toEqual([
    ...["Without a key", expect.stringMatching(/^With (a key|keys|a subscription)$/)],
    "What it costs, what it touches",
  ]);
});

describe.concurrent("examples with the rehearsal model", () => {
  test.for(Object.entries(runs))(
    "runs the example %s unchanged",
    { timeout: 300_000 },
    async ([name, run], { onTestFinished }) => {
      const example = copyExample(name, onTestFinished);
      await run(example);
      const jobs = await example.jobs();
      expect(jobs.filter(({ outcome }) => outcome?.code === "success")).not.toEqual([]);
      expect(jobs.filter(({ status }) => !["completed", "skipped"].includes(status))).toEqual([]);
    },
  );

  test("keeps the price watcher in its folder, whatever a page orders", async ({
    onTestFinished,
  }) => {
    await runHostilePage(copyExample("price-watcher", onTestFinished));
  });
});
