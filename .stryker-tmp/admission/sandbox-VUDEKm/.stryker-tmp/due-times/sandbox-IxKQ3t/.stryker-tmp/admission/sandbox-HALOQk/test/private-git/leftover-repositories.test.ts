import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunningOnNode } from "../../packages/core/src/jobs/attempts/container-cleanup.ts";
import { collectGit } from "../../packages/core/src/private-git/private-git-lifecycle.ts";
import { makeKeepAliveFolder } from "../../packages/core/src/runner/contract/keep-alive-folder.ts";
import {
  collectLateCommits,
  removeUncollectedGit,
} from "../../packages/core/src/runner/recovery/collect-late-commits.ts";
import {
  listRunFolders,
  type PrivateGitHarness,
  startPrivateGitHarness,
} from "../support/private-git-harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const allRunsEnded = async () => true;

test("imports commits of a dead run later and keeps only what a run needs", async () => {
  const left = await startPrivateGitHarness({ runToken: "job-1.1" });
  const head = left.commitAsAgent("left");
  await left.openRun("job-2.1");
  const underWay = await left.openRun("job-3.2");
  underWay.commitAsAgent("under way");
  const live = await left.openRun("job-4.1");
  live.commitAsAgent("live");
  makeKeepAliveFolder(left.stateDir, "job-4.1");

  const isOver = async ({ jobId }: { jobId: string }) => jobId !== "job-3";
  const late = await collectLateCommits(left.stateDir, isOver);
  expect(late).toMatchObject([{ jobId: "job-1", git: { ref: "refs/herdctl/job-1", commits: 1 } }]);
  expect(left.host.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/herdctl")).toBe(
    `${head} refs/herdctl/job-1`,
  );
  expect(listRunFolders(left.stateDir)).toEqual(["job-3.2", "job-4.1"]);
  expect(await collectLateCommits(left.stateDir, isOver)).toEqual([]);
});

test("keeps commits of a missing workspace as long as the job's record", async () => {
  const run = await startPrivateGitHarness();
  run.commitAsAgent("two");
  const other = await run.openRun("job-2.1");
  rmSync(run.workspace, { recursive: true });
  const [late, ...more] = await collectLateCommits(run.stateDir, allRunsEnded);
  expect(more).toEqual([]);
  expect(late).toMatchObject({ jobId: "job-1", git: null });
  expect(late?.warnings.join()).toMatch(
    /workspace\/\.git does not exist any more.*docker-git\/kept/,
  );
  expect(listRunFolders(other.stateDir)).toEqual([]);
  expect(listRunFolders(run.stateDir, "kept")).toEqual(["job-1.1"]);
  await removeUncollectedGit(run.stateDir, async (jobId) => jobId !== "job-1");
  expect(listRunFolders(run.stateDir, "kept")).toEqual(["job-1.1"]);
  await removeUncollectedGit(run.stateDir, async (jobId) => jobId === "job-1");
  expect(listRunFolders(run.stateDir, "kept")).toEqual([]);
});

test("keeps a directory with an unreadable record, because it may contain commits", async () => {
  const run = await startPrivateGitHarness();
  run.commitAsAgent("two");
  writeFileSync(join(run.folder, "record.json"), "");
  const [late] = await collectLateCommits(run.stateDir, allRunsEnded);
  expect(late?.warnings.join()).toMatch(/cannot be read.*docker-git\/kept/);
  expect(listRunFolders(run.stateDir)).toEqual([]);
  expect(listRunFolders(run.stateDir, "kept")).toEqual(["job-1.1"]);
});

test("starts an attempt on another node from that node's repository", async () => {
  const first = await startPrivateGitHarness();
  first.commitAsAgent("two");
  await collectGit(first.folder, "job-1");
  const workspace = cloneRepository(first, join(tempFolderWith({}), "clone"));
  const second = await first.openRun("job-1.2", { workspace, stateDir: tempFolderWith({}) });
  expectAtHostHead(second);
  second.commitAsAgent("there");
  const { git, warnings } = await collectGit(second.folder, "job-1");
  expect({ git, warnings }).toMatchObject({ git: { commits: 1 }, warnings: [] });
});

test("starts an attempt in a recreated workspace from its repository", async () => {
  const first = await startPrivateGitHarness();
  const origin = cloneRepository(first, join(tempFolderWith({}), "origin"));
  first.commitAsAgent("two");
  await collectGit(first.folder, "job-1");
  rmSync(first.workspace, { recursive: true });
  cloneRepository({ ...first, workspace: origin }, first.workspace);
  const second = await first.openRun("job-1.2");
  expectAtHostHead(second);
  second.commitAsAgent("there");
  const { git, warnings } = await collectGit(second.folder, "job-1");
  expect({ git, warnings }).toMatchObject({ git: { commits: 1 }, warnings: [] });
});

test.each([
  ["runs here", { status: "running", due_at: null, node: "here" }, true],
  ["waits for a person", { status: "waiting", due_at: null, node: "here" }, true],
  ["waits for its next attempt", { status: "waiting", due_at: "2026-01-01", node: "here" }, false],
  ["runs on another node", { status: "running", due_at: null, node: "there" }, false],
  ["is finished", { status: "failed", due_at: null, node: "here" }, false],
] as const)("decides whether a job that %s is running here", (_, job, isUnderWay) => {
  expect(isRunningOnNode(job, "here")).toBe(isUnderWay);
});

function cloneRepository(
  { workspace }: Pick<PrivateGitHarness, "workspace">,
  path: string,
): string {
  mkdirSync(path);
  execFileSync("git", ["clone", "-q", workspace, path]);
  return path;
}

function expectAtHostHead(run: PrivateGitHarness): void {
  const there = execFileSync("git", ["rev-parse", "HEAD"], {
    cwd: run.workspace,
    encoding: "utf8",
  });
  expect(run.gitAsAgent("rev-parse", "HEAD")).toBe(there.trim());
  expect(run.gitAsAgent("status", "--porcelain")).toBe("");
  expect(run.gitAsAgent("log", "--format=%s")).toBe("one");
}
