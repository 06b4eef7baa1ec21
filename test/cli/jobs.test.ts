import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createJob, type Job, outcomes, updateJob } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetHead } from "../support/fleet.ts";
import { folderWith, writeFiles } from "../support/folder.ts";
import { herdctl } from "./herdctl.ts";

/** A state with jobs in it, made through the library; nothing runs. */
async function fleetWithJobs(): Promise<{ cwd: string; jobs: Job[] }> {
  const cwd = folderWith({ "herdctl.yaml": `${fleetHead}agents: [{ name: one }]\n` });
  const state = join(cwd, ".herdctl");
  const jobs: Job[] = [];
  for (const agent of ["one", "two", "one", "two", "one"]) {
    jobs.push(await createJob(state, { agent, prompt: `for ${agent}` }));
  }
  const [first, second] = jobs;
  if (!first || !second) throw new Error("there are no jobs");
  const { message, hint } = outcomes.max_turns;
  await updateJob(state, first.id, { status: "running" });
  const done = { code: "success", message: "The agent finished.", hint: "Nothing to do." } as const;
  await updateJob(state, first.id, {
    status: "completed",
    outcome: done,
    summary: "All is well.\nReally.",
    cost_usd: 0.25,
  });
  await updateJob(state, second.id, { status: "running" });
  const failed = { code: "max_turns", message, hint } as const;
  await updateJob(state, second.id, { status: "failed", outcome: failed, warnings: ["odd"] });
  return { cwd, jobs };
}

async function listed(
  cwd: string,
  ...args: string[]
): Promise<{ ids: string[]; next: string | null }> {
  const run = await herdctl(["jobs", "--json", ...args], { cwd });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const { jobs, next } = JSON.parse(run.stdout);
  return { ids: jobs.map((job: Job) => job.id), next };
}

test("jobs are listed newest first, by agent, status, outcome and time, page by page", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const newest = jobs.map((job) => job.id).reverse();
  const [fifth, fourth, third, second, first] = newest;
  expect(await listed(cwd)).toEqual({ ids: newest, next: null });
  expect((await listed(cwd, "--agent", "two")).ids).toEqual([fourth, second]);
  expect((await listed(cwd, "--status", "completed")).ids).toEqual([first]);
  expect((await listed(cwd, "--outcome", "max_turns")).ids).toEqual([second]);
  expect((await listed(cwd, "--since", "1h")).ids).toEqual(newest);
  expect((await listed(cwd, "--since", jobs[2]?.created_at ?? "")).ids).toEqual([
    fifth,
    fourth,
    third,
  ]);
  expect((await listed(cwd, "--since", "2999-01-01")).ids).toEqual([]);

  const page = await listed(cwd, "--limit", "2");
  expect(page.ids).toEqual([fifth, fourth]);
  const after = await listed(cwd, "--limit", "2", "--cursor", page.next ?? "");
  expect(after.ids).toEqual([third, second]);
  const last = await listed(cwd, "--limit", "2", "--cursor", after.next ?? "");
  expect(last).toEqual({ ids: [first], next: null });
});

test("the table tells outcome, cost and the first line of the summary", async () => {
  const { cwd } = await fleetWithJobs();
  const run = await herdctl(["jobs", "--limit", "4"], { cwd });
  const lines = run.stdout.split("\n");
  expect(lines[0]).toMatch(/^JOB +AGENT +OUTCOME +AGE +TOOK +COST +SUMMARY$/);
  expect(lines[1]).toMatch(/^job-\S+ +one +○ pending +\d+ s +for one$/);
  expect(lines[4]).toMatch(/two +✗ max_turns +\d+ s +0\.\d s +The agent used all its turns\.$/);
  expect(run.stderr).toMatch(/--cursor \w+/);
  const done = await herdctl(["jobs", "--status", "completed"], { cwd });
  expect(done.stdout).toMatch(/✓ success .* \$0\.2500 {2}All is well\.$/m);
  expect(done.stdout).not.toContain("Really.");
});

const wrong: [args: string[], told: RegExp][] = [
  [["--status", "done"], /"done" is no status[\s\S]*completed/],
  [["--outcome", "bad"], /"bad" is no outcome[\s\S]*max_turns/],
  [["--since", "yesterday"], /neither a duration nor a point in time[\s\S]*2h/],
  [["--limit", "0"], /"0" is not a number of jobs/],
  [["--limit", "many"], /"many" is not a number of jobs/],
  [["--cursor", "nowhere"], /does not mark a place/],
];

test("a filter that makes no sense is told", async () => {
  const cwd = folderWith({ "herdctl.yaml": `${fleetHead}agents: [{ name: one }]\n` });
  for (const [args, told] of wrong) {
    const run = await herdctl(["jobs", ...args], { cwd });
    expect(run, args.join(" ")).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(told);
  }
});

test("a job is shown by its id or the beginning of it, whole", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const id = jobs[1]?.id ?? "";
  const short = id.slice("job-2026-01-01-".length, -1);
  for (const typed of [id, id.slice(0, -1), short]) {
    const run = await herdctl(["job", typed, "--json"], { cwd });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toMatchObject({
      id,
      agent: "two",
      outcome: { code: "max_turns" },
    });
  }
  const page = await herdctl(["job", short], { cwd });
  expect(page.stdout).toMatch(new RegExp(`^${id} {2}✗ max_turns$`, "m"));
  expect(page.stdout).toMatch(/outcome +The agent used all its turns\.\n +Raise `max_turns`/);
  expect(page.stdout).toMatch(/warnings +odd$/m);
  expect(page.stdout).toMatch(/prompt +for two$/m);
});

test("an id that is not there, or not enough of one, is told with those that are", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const missing = await herdctl(["job", "job-1999"], { cwd });
  expect(missing).toMatchObject({ code: 2, stdout: "" });
  expect(missing.stderr).toMatch(/there is no job job-1999/);
  const ambiguous = await herdctl(["job", "job-"], { cwd });
  expect(ambiguous.code).toBe(2);
  for (const { id } of jobs) expect(ambiguous.stderr).toContain(id);
});

test("where nothing has run yet, nothing is listed, and nothing is made", async () => {
  const cwd = folderWith({ "herdctl.yaml": `${fleetHead}agents: [{ name: one }]\n` });
  const said: [args: string[], text: RegExp][] = [
    [["jobs"], /Nothing has run here yet/],
    [["logs"], /Nothing has run here yet/],
    [["logs", "one"], /Nothing has run here yet/],
    [["sessions"], /No session yet/],
  ];
  for (const [args, text] of said) {
    const run = await herdctl(args, { cwd });
    expect(run.code).toBe(0);
    expect(run.stdout + run.stderr).toMatch(text);
  }
  const empty = await herdctl(["jobs", "--json"], { cwd });
  expect(JSON.parse(empty.stdout)).toEqual({ jobs: [], next: null });
  expect(() => readFileSync(join(cwd, ".herdctl/herd.db"))).toThrow(/ENOENT/);
});

test.each([
  ["is no YAML", "version: one\n\tfrob: 1\n", /a tab is used/],
  ["is wrong", `${fleetHead}agents: [{ name: one, runtime: skd }]\n`, /"skd" is not one of/],
])("jobs are listed though the configuration %s", async (_, text, told) => {
  const { cwd, jobs } = await fleetWithJobs();
  writeFiles(cwd, { "herdctl.yaml": text });
  const checked = await herdctl(["config", "check"], { cwd });
  expect(checked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(told) });
  const { ids } = await listed(cwd);
  expect(ids).toEqual(jobs.map((job) => job.id).reverse());
});
