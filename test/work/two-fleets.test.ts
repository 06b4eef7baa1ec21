import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { GitHubStandIn } from "../support/github.ts";
import { quickClaude } from "../support/quick-claude.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";
import { samples } from "../support/width.ts";

async function standIn(): Promise<GitHubStandIn> {
  const github = await GitHubStandIn.start();
  onTestFinished(() => github.stop());
  return github;
}

const withToken = (on: Stage): Stage => ({ ...on, env: { ...on.env, GITHUB_TOKEN: "t" } });

async function worked(fleet: FleetControl): Promise<Job[]> {
  return (await fleet.jobs({ limit: 1000 })).jobs.filter((job) => job.attempts > 0);
}

test("two fleets on many issues: each is claimed, worked on and closed exactly once", async () => {
  const on = withToken(await stage());
  const github = await standIn();
  const numbers = Array.from({ length: samples(50, 0.4) }, (_, index) => index + 1);
  const agent = `  - name: coder
    runtime: cli
    max_concurrent: 3
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}" }
    schedules:
      issues: { type: interval, every: 100ms, from: start, overlap: allow }`;
  const claude = quickClaude();
  const fleets = await Promise.all(
    [1, 2].map(() => fleetProgram(on, fleetFile(on, agent, "max_concurrent: 3", claude))),
  );
  // Only now, so that neither has taken all before the other is there.
  for (const number of numbers) github.open(number, { title: `Task ${number}.` });
  const isOver = () =>
    [...github.issues.values()].every(({ state }) => state === "closed") && github.refs.size === 0;
  await until("all issues to be closed", async () => isOver(), 90_000);

  const shares = await Promise.all(fleets.map(({ control }) => worked(control)));
  for (const share of shares) expect(share.length).toBeGreaterThan(0);
  const all = shares.flat();
  expect(all).toHaveLength(numbers.length);
  for (const number of numbers) {
    expect(all.filter(({ prompt }) => prompt.includes(`Task ${number}.`))).toHaveLength(1);
    const told = (word: string) =>
      github.commentsOf(number).filter((text) => text.includes(word)).length;
    expect(told("Done by"), `issue ${number}`).toBe(1);
    // Work that is over before anybody could be told that it begins is told as done only.
    expect(told("works on this"), `issue ${number}`).toBeLessThanOrEqual(1);
  }
  for (const fleet of fleets) await fleet.stop();
}, 120_000);

const waitsIn = (folder: string) =>
  obey([
    "Bash",
    { command: `touch ${folder}/began; while [ ! -e ${folder}/go ]; do sleep 0.1; done` },
  ]);

/** Its claims become stale after a few seconds without a word of it. */
const hasty = (github: GitHubStandIn, prompt: string) => `  - name: coder
    runtime: cli
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}", stale_after: 6s }
    schedules:
      issues: { type: interval, every: 500ms, prompt: ${JSON.stringify(prompt)} }`;

test("a claim is renewed while its job runs: another fleet does not get it, however long it takes", async () => {
  const on = withToken(await stage({ mode: "obedient" }));
  const github = await standIn();
  github.open(1);
  const file = fleetFile(on, hasty(github, waitsIn(on.workspace)));
  const first = await fleetProgram(on, file);
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  const second = await fleetProgram(on, fleetFile(on, hasty(github, "Do it.")));
  const renewals = () =>
    [...github.commits.values()].filter(({ message }) => message.includes('"claimed"')).length - 1;
  await until("four renewals", async () => renewals() >= 4, 40_000);
  expect(await worked(second.control)).toEqual([]);
  writeFileSync(join(on.workspace, "go"), "");
  await until("the issue to be closed", async () => github.issues.get(1)?.state === "closed");
  expect(await worked(first.control)).toMatchObject([{ status: "completed" }]);
  for (const fleet of [first, second]) await fleet.stop();
}, 120_000);

test("a fleet that slept while another took its issue ends its own job, and says nothing there", async () => {
  const on = withToken(await stage({ mode: "obedient" }));
  const github = await standIn();
  github.open(1);
  const sleeper = await fleetProgram(on, fleetFile(on, hasty(github, waitsIn(on.workspace))));
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  const [job] = await until("the job to run", async () => {
    const jobs = await worked(sleeper.control);
    return jobs.length > 0 && jobs;
  });
  process.kill(sleeper.pid, "SIGSTOP");
  onTestFinished(() => void sleeper.kill());
  const other = await fleetProgram(on, fleetFile(on, hasty(github, "Say done.")));
  await until("the other to do it", async () => github.issues.get(1)?.state === "closed", 40_000);
  const told = github.commentsOf(1);
  process.kill(sleeper.pid, "SIGCONT");

  const id = job?.id ?? "";
  const ended = await until("its job to end", async () => {
    const now = await jobNow(sleeper.control, id);
    return now.status !== "running" && now;
  });
  expect(ended).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
  expect(ended.warnings.join()).toContain("github:o/r 1 was taken over by somebody else");
  expect(await worked(other.control)).toMatchObject([{ status: "completed" }]);
  expect(github.commentsOf(1)).toEqual(told);
  expect(told.filter((text) => text.includes("Done by"))).toHaveLength(1);
  for (const fleet of [sleeper, other]) await fleet.stop();
}, 120_000);
