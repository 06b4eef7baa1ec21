import type { BudgetView, DueTimePage, Job, ScheduleView } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startCliHarness } from "./cli-harness.ts";
import { startRunningFleet } from "./running-fleet.ts";

test("lists, switches and runs schedules with their next and last due times", async () => {
  const harness = await startRunningFleet({ rules: [{ reply: { text: "Done." } }] });
  const [text, list, status] = await Promise.all([
    harness.run("schedules"),
    harness.json<{ schedules: ScheduleView[] }>("schedules", "list"),
    harness.run("status"),
  ]);
  expect(text.stdout).toMatch(/^cli +nightly +every 1h from end/m);
  expect(list.schedules).toMatchObject([{ agent: "cli", schedule: "nightly", enabled: true }]);
  expect(list.schedules[0]?.next).toHaveLength(1);
  expect(status.stdout).toMatch(/^cli .*nightly/m);

  const off = await harness.run("schedules", "disable", "cli", "nightly");
  expect(off).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("cli nightly is disabled"),
  });
  expect((await harness.run("schedules")).stdout).toMatch(/nightly .* disabled/);
  expect(await harness.json("schedules", "enable", "cli", "nightly")).toMatchObject({
    enabled: true,
  });

  const job = await harness.json<Job>("schedules", "run", "cli", "nightly", "--wait");
  expect(job).toMatchObject({
    status: "completed",
    prompt: "the nightly prompt",
    trigger_type: "manual",
  });
  const history = await harness.json<DueTimePage>("schedules", "history", "cli");
  expect(history.due_times).toEqual([]);
  for (const wrong of [["enable"], ["run", "cli"], ["disable", "cli", "none"]]) {
    expect(await harness.run("schedules", ...wrong)).toMatchObject({ code: 2 });
  }
});

test("shows a budget and raises it for today", async () => {
  const harness = await startRunningFleet();
  const view = await harness.json<BudgetView>("budget");
  expect(view.fleet).toMatchObject({ limits: { usd: null }, spent: { jobs: 0 } });
  const raised = await harness.json<BudgetView>(
    "budget",
    "raise",
    "cli",
    "--usd",
    "2.5",
    "--jobs",
    "3",
  );
  expect(raised.agents.find(({ agent }) => agent === "cli")?.raised).toEqual({
    usd: 2.5,
    jobs: 3,
    tokens: 0,
  });
  expect((await harness.run("budget")).stdout).toContain("whole fleet");
  for (const wrong of [[], ["--usd", "much"], ["--jobs", "1.5"], ["nobody", "--jobs", "1"]]) {
    expect(await harness.run("budget", "raise", ...wrong)).toMatchObject({ code: 2 });
  }
});

test("reads schedules from the state without a fleet and refuses to change them", async () => {
  const harness = await startCliHarness({ rules: [{ reply: { text: "Done." } }] });
  await harness.trigger("sdk");
  const list = await harness.run("schedules", "--json");
  expect(JSON.parse(list.stdout).schedules[0].next).toHaveLength(1);
  expect((await harness.run("schedules", "history")).stdout).toContain("No due times yet.");
  expect((await harness.run("budget")).stdout).toMatch(/whole fleet .* 1 /);
  const needs = [
    ["schedules", "enable", "cli", "nightly"],
    ["budget", "raise", "--jobs", "1"],
  ];
  for (const args of needs) expect(await harness.run(...args)).toMatchObject({ code: 3 });
});
