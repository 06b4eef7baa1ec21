import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetControl, Job } from "@herdctl/protocol";
import { expect, onTestFinished, test } from "vitest";
import { writeFakeClaude } from "../support/fake-claude.ts";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { GitHubStandIn } from "../support/github-stand-in.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { sampleCount } from "../support/test-subset.ts";

async function startGitHub(): Promise<GitHubStandIn> {
  const github = await GitHubStandIn.start();
  onTestFinished(() => github.stop());
  return github;
}

const withToken = (harness: TestHarness): TestHarness => ({
  ...harness,
  env: { ...harness.env, GITHUB_TOKEN: "t" },
});

async function workedJobs(fleet: FleetControl): Promise<Job[]> {
  return (await fleet.jobs.list({ limit: 1000 })).jobs.filter((job) => job.attempts > 0);
}

test("claims, works on and closes each of many issues exactly once with two fleets", async () => {
  const harness = withToken(await startHarness());
  const github = await startGitHub();
  const numbers = Array.from({ length: sampleCount(50, 0.4) }, (_, index) => index + 1);
  const agent = `  - name: coder
    runtime: cli
    max_concurrent: 3
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}" }
    schedules:
      issues: { type: interval, every: 100ms, measured_from: start, overlap: allow }`;
  const claude = writeFakeClaude();
  const fleets = await Promise.all(
    [1, 2].map(() =>
      startFleetProcess(harness, writeFleetFile(harness, agent, "max_concurrent: 3", claude)),
    ),
  );
  // Added late, so that neither fleet can take all before the other runs.
  for (const number of numbers) github.addIssue(number, { title: `Task ${number}.` });
  const isOver = () =>
    [...github.issues.values()].every(({ state }) => state === "closed") && github.refs.size === 0;
  await waitUntil("all issues to be closed", async () => isOver(), 90_000);

  const shares = await Promise.all(fleets.map(({ control }) => workedJobs(control)));
  for (const share of shares) expect(share.length).toBeGreaterThan(0);
  const all = shares.flat();
  expect(all).toHaveLength(numbers.length);
  for (const number of numbers) {
    expect(all.filter(({ prompt }) => prompt.includes(`Task ${number}.`))).toHaveLength(1);
    const comments = (word: string) =>
      github.commentsOnIssue(number).filter((text) => text.includes(word)).length;
    expect(comments("Done by"), `issue ${number}`).toBe(1);
    // Work that finishes before its start was announced is only announced as done.
    expect(comments("is working on this"), `issue ${number}`).toBeLessThanOrEqual(1);
  }
  for (const fleet of fleets) await fleet.stop();
}, 120_000);

const waitingToolPrompt = (folder: string) =>
  toolCallPrompt([
    "Bash",
    { command: `touch ${folder}/began; while [ ! -e ${folder}/go ]; do sleep 0.1; done` },
  ]);

/** Its claims become stale after a few seconds without renewal. */
const renewingAgent = (github: GitHubStandIn, prompt: string) => `  - name: coder
    runtime: cli
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}", stale_after: 6s }
    schedules:
      issues: { type: interval, every: 500ms, prompt: ${JSON.stringify(prompt)} }`;

test("renews a claim while its job runs, so that another fleet never gets it", async () => {
  const harness = withToken(await startHarness({ mode: "obedient" }));
  const github = await startGitHub();
  github.addIssue(1);
  const file = writeFleetFile(harness, renewingAgent(github, waitingToolPrompt(harness.workspace)));
  const first = await startFleetProcess(harness, file);
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  const second = await startFleetProcess(
    harness,
    writeFleetFile(harness, renewingAgent(github, "Do it.")),
  );
  const renewals = () =>
    [...github.commits.values()].filter(({ message }) => message.includes('"claimed"')).length - 1;
  await waitUntil("four renewals", async () => renewals() >= 4, 40_000);
  expect(await workedJobs(second.control)).toEqual([]);
  writeFileSync(join(harness.workspace, "go"), "");
  await waitUntil("the issue to be closed", async () => github.issues.get(1)?.state === "closed");
  expect(await workedJobs(first.control)).toMatchObject([{ status: "completed" }]);
  for (const fleet of [first, second]) await fleet.stop();
}, 120_000);

test("ends the job of a fleet that slept while another took its issue, and posts nothing", async () => {
  const harness = withToken(await startHarness({ mode: "obedient" }));
  const github = await startGitHub();
  github.addIssue(1);
  const sleeper = await startFleetProcess(
    harness,
    writeFleetFile(harness, renewingAgent(github, waitingToolPrompt(harness.workspace))),
  );
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  const [job] = await waitUntil("the job to run", async () => {
    const jobs = await workedJobs(sleeper.control);
    return jobs.length > 0 && jobs;
  });
  process.kill(sleeper.pid, "SIGSTOP");
  onTestFinished(() => void sleeper.kill());
  const other = await startFleetProcess(
    harness,
    writeFleetFile(harness, renewingAgent(github, "Say done.")),
  );
  await waitUntil(
    "the other to do it",
    async () => github.issues.get(1)?.state === "closed",
    40_000,
  );
  const comments = github.commentsOnIssue(1);
  process.kill(sleeper.pid, "SIGCONT");

  const id = job?.id ?? "";
  const ended = await waitUntil("its job to end", async () => {
    const now = await readJob(sleeper.control, id);
    return now.status !== "running" && now;
  });
  expect(ended).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
  expect(ended.warnings.join()).toContain("github:o/r 1 was claimed by another fleet");
  expect(await workedJobs(other.control)).toMatchObject([{ status: "completed" }]);
  expect(github.commentsOnIssue(1)).toEqual(comments);
  expect(comments.filter((text) => text.includes("Done by"))).toHaveLength(1);
  for (const fleet of [sleeper, other]) await fleet.stop();
}, 120_000);
