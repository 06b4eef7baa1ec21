import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createJob, updateJob } from "@herdctl/core/internal";
import { type Job, outcomes } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { fleetHeader } from "../support/fleet-config.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";
import { runHerdctl } from "./run-herdctl.ts";

/** Creates a state with jobs through the library, without running any. */
async function fleetWithJobs(): Promise<{ cwd: string; jobs: Job[] }> {
  const cwd = tempFolderWith({ "herdctl.yaml": `${fleetHeader}agents: [{ name: one }]\n` });
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

async function listJobIds(
  cwd: string,
  ...args: string[]
): Promise<{ ids: string[]; next: string | null }> {
  const run = await runHerdctl(["jobs", "--json", ...args], { cwd });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const { jobs, next_cursor: next } = JSON.parse(run.stdout);
  return { ids: jobs.map((job: Job) => job.id), next };
}

test("lists jobs newest first, by agent, status, outcome and time, page by page", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const newest = jobs.map((job) => job.id).reverse();
  const [fifth, fourth, third, second, first] = newest;
  expect(await listJobIds(cwd)).toEqual({ ids: newest, next: null });
  expect((await listJobIds(cwd, "--agent", "two")).ids).toEqual([fourth, second]);
  expect((await listJobIds(cwd, "--status", "completed")).ids).toEqual([first]);
  expect((await listJobIds(cwd, "--outcome", "max_turns")).ids).toEqual([second]);
  expect((await listJobIds(cwd, "--since", "1h")).ids).toEqual(newest);
  expect((await listJobIds(cwd, "--since", jobs[2]?.created_at ?? "")).ids).toEqual([
    fifth,
    fourth,
    third,
  ]);
  expect((await listJobIds(cwd, "--since", "2999-01-01")).ids).toEqual([]);

  const page = await listJobIds(cwd, "--limit", "2");
  expect(page.ids).toEqual([fifth, fourth]);
  const after = await listJobIds(cwd, "--limit", "2", "--cursor", page.next ?? "");
  expect(after.ids).toEqual([third, second]);
  const last = await listJobIds(cwd, "--limit", "2", "--cursor", after.next ?? "");
  expect(last).toEqual({ ids: [first], next: null });
});

test("shows outcome, cost and the first summary line in the table", async () => {
  const { cwd } = await fleetWithJobs();
  const run = await runHerdctl(["jobs", "--limit", "4"], { cwd });
  const lines = run.stdout.split("\n");
  expect(lines[0]).toMatch(/^JOB +AGENT +OUTCOME +AGE +TOOK +COST +SUMMARY$/);
  expect(lines[1]).toMatch(/^job-\S+ +one +○ pending +\d+ s +queued: no fleet is running$/);
  expect(lines[4]).toMatch(/two +✗ max_turns +\d+ s +0\.\d s +The agent used all its turns\.$/);
  expect(run.stderr).toMatch(/--cursor \w+/);
  const done = await runHerdctl(["jobs", "--status", "completed"], { cwd });
  expect(done.stdout).toMatch(/✓ success .* \$0\.2500 {2}All is well\.$/m);
  expect(done.stdout).not.toContain("Really.");
});

const invalidArguments: [args: string[], message: RegExp][] = [
  [["--status", "done"], /"done" is not a valid status[\s\S]*completed/],
  [["--outcome", "bad"], /"bad" is not a valid outcome[\s\S]*max_turns/],
  [["--since", "yesterday"], /not a duration or a point in time[\s\S]*2h/],
  [["--limit", "0"], /"0" is not a number of jobs/],
  [["--limit", "many"], /"many" is not a number of jobs/],
  [["--cursor", "nowhere"], /is not a valid cursor/],
];

test("explains an invalid filter", async () => {
  const cwd = tempFolderWith({ "herdctl.yaml": `${fleetHeader}agents: [{ name: one }]\n` });
  for (const [args, message] of invalidArguments) {
    const run = await runHerdctl(["jobs", ...args], { cwd });
    expect(run, args.join(" ")).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(message);
  }
});

test("shows a whole job by its id or a prefix of it", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const id = jobs[1]?.id ?? "";
  const short = id.slice("job-2026-01-01-".length, -1);
  for (const typed of [id, id.slice(0, -1), short]) {
    const run = await runHerdctl(["job", typed, "--json"], { cwd });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toMatchObject({
      id,
      agent: "two",
      outcome: { code: "max_turns" },
    });
  }
  const page = await runHerdctl(["job", short], { cwd });
  expect(page.stdout).toMatch(new RegExp(`^${id} {2}✗ max_turns$`, "m"));
  expect(page.stdout).toMatch(/outcome +The agent used all its turns\.\n +Raise `max_turns`/);
  expect(page.stdout).toMatch(/warnings +odd$/m);
  expect(page.stdout).toMatch(/prompt +for two$/m);
});

test("lists the candidates for an unknown or ambiguous id", async () => {
  const { cwd, jobs } = await fleetWithJobs();
  const missing = await runHerdctl(["job", "job-1999"], { cwd });
  expect(missing).toMatchObject({ code: 2, stdout: "" });
  expect(missing.stderr).toMatch(/there is no job job-1999/);
  const ambiguous = await runHerdctl(["job", "job-"], { cwd });
  expect(ambiguous.code).toBe(2);
  for (const { id } of jobs) expect(ambiguous.stderr).toContain(id);
});

test("lists nothing and creates nothing before the first run", async () => {
  const cwd = tempFolderWith({ "herdctl.yaml": `${fleetHeader}agents: [{ name: one }]\n` });
  const expected: [args: string[], text: RegExp][] = [
    [["jobs"], /No jobs yet/],
    [["logs"], /No jobs yet/],
    [["logs", "one"], /No jobs yet/],
    [["sessions"], /No sessions yet/],
  ];
  for (const [args, text] of expected) {
    const run = await runHerdctl(args, { cwd });
    expect(run.code).toBe(0);
    expect(run.stdout + run.stderr).toMatch(text);
  }
  const empty = await runHerdctl(["jobs", "--json"], { cwd });
  expect(JSON.parse(empty.stdout)).toEqual({ jobs: [], next_cursor: null });
  expect(() => readFileSync(join(cwd, ".herdctl/herd.db"))).toThrow(/ENOENT/);
});

test.each([
  ["is not YAML", "version: one\n\tfrob: 1\n", /a tab is used/],
  ["is invalid", `${fleetHeader}agents: [{ name: one, runtime: skd }]\n`, /"skd" is not one of/],
])("lists jobs when the configuration %s", async (_, text, message) => {
  const { cwd, jobs } = await fleetWithJobs();
  writeFiles(cwd, { "herdctl.yaml": text });
  const checked = await runHerdctl(["config", "check"], { cwd });
  expect(checked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  const { ids } = await listJobIds(cwd);
  expect(ids).toEqual(jobs.map((job) => job.id).reverse());
});
