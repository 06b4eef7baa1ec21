import type { BudgetView, DueRecord, Job, ScheduleView } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetStage } from "./fleet-stage.ts";
import { runningFleet } from "./fleet-stage-running.ts";

test("schedules are listed, switched and run, with what is next and what was", async () => {
  const on = await runningFleet({ rules: [{ reply: { text: "Done." } }] });
  const [text, list, status] = await Promise.all([
    on.run("schedules"),
    on.json<{ schedules: ScheduleView[] }>("schedules", "list"),
    on.run("status"),
  ]);
  expect(text.stdout).toMatch(/^cli +nightly +every 1h from end/m);
  expect(list.schedules).toMatchObject([{ agent: "cli", schedule: "nightly", enabled: true }]);
  expect(list.schedules[0]?.next).toHaveLength(1);
  expect(status.stdout).toMatch(/^cli .*nightly/m);

  const off = await on.run("schedules", "disable", "cli", "nightly");
  expect(off).toMatchObject({ code: 0, stdout: expect.stringContaining("cli nightly is off") });
  expect((await on.run("schedules")).stdout).toMatch(/nightly .* off/);
  expect(await on.json("schedules", "enable", "cli", "nightly")).toMatchObject({ enabled: true });

  const job = await on.json<Job>("schedules", "run", "cli", "nightly", "--wait");
  expect(job).toMatchObject({
    status: "completed",
    prompt: "the nightly prompt",
    trigger_type: "manual",
  });
  const history = await on.json<{ records: DueRecord[] }>("schedules", "history", "cli");
  expect(history.records).toEqual([]);
  for (const wrong of [["enable"], ["run", "cli"], ["disable", "cli", "none"]]) {
    expect(await on.run("schedules", ...wrong)).toMatchObject({ code: 2 });
  }
});

test("a budget is shown and raised for today", async () => {
  const on = await runningFleet();
  const view = await on.json<BudgetView>("budget");
  expect(view.fleet).toMatchObject({ limits: { usd: null }, spent: { jobs: 0 } });
  const raised = await on.json<BudgetView>("budget", "raise", "cli", "--usd", "2.5", "--jobs", "3");
  expect(raised.agents.find(({ agent }) => agent === "cli")?.raised).toEqual({
    usd: 2.5,
    jobs: 3,
    tokens: 0,
  });
  expect((await on.run("budget")).stdout).toContain("the whole fleet");
  for (const wrong of [[], ["--usd", "much"], ["--jobs", "1.5"], ["nobody", "--jobs", "1"]]) {
    expect(await on.run("budget", "raise", ...wrong)).toMatchObject({ code: 2 });
  }
});

test("what reads is told by the state where no fleet runs; what changes something is not done", async () => {
  const on = await fleetStage({ rules: [{ reply: { text: "Done." } }] });
  await on.trigger("sdk");
  const list = await on.run("schedules", "--json");
  expect(JSON.parse(list.stdout).schedules[0].next).toHaveLength(1);
  expect((await on.run("schedules", "history")).stdout).toContain("Nothing has come due yet.");
  expect((await on.run("budget")).stdout).toMatch(/the whole fleet .* 1 /);
  const needs = [
    ["schedules", "enable", "cli", "nightly"],
    ["budget", "raise", "--jobs", "1"],
  ];
  for (const args of needs) expect(await on.run(...args)).toMatchObject({ code: 3 });
});
