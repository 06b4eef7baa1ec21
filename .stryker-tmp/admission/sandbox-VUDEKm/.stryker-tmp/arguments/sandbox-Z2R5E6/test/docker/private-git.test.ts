import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collectRunReport } from "../../packages/core/src/runner/recovery/collect-report.ts";
import { assignRun, createRunnerPool, waitUntil } from "../runner-pool/runner-harness.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  containersOfJob,
  runJobInContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { createHostRepository, openHostRepository } from "../support/host-repository.ts";
import { listRunFolders } from "../support/private-git-harness.ts";
import { readJobMessages, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

async function runCommandInContainer(harness: TestHarness, command: string, yaml = "") {
  const { job } = await runJobInContainer(harness, {
    yaml,
    prompt: toolCallPrompt(["Bash", { command }]),
  });
  expect(job.outcome?.code).toBe("success");
  return { job, output: toolResultTexts(await readJobMessages(job)).join("\n") };
}

test("continues an agent's history after its last run until the host's HEAD moves", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = createHostRepository(harness.env, harness.workspace);
  chownToContainerUser(harness.workspace);
  const yaml = "docker: { enabled: true, commit_branch: agents/work }";

  const first = await runCommandInContainer(
    harness,
    "git switch -qc topic; echo 2 > two; git add two; git commit -qm two",
    yaml,
  );
  const second = await runCommandInContainer(
    harness,
    "git status --short --branch; echo 3 > three; git add three; git commit -qm three",
    yaml,
  );
  expect(second.output).toContain("## topic");
  expect(second.output).not.toContain("??");
  expect(second.job.git).toMatchObject({
    head_before: first.job.git?.head_after,
    commits: 1,
    branch: "agents/work",
  });
  expect(host.git("log", "--format=%s", "agents/work")).toBe("three\ntwo\none");
  expect(host.git("branch", "--show-current")).toBe("main");

  // The files are already there, so only the branch has to move.
  host.git("reset", "-q", second.job.git?.ref ?? "");
  expect(host.git("status", "--porcelain")).toBe("");
  const third = await runCommandInContainer(
    harness,
    "git log --format=%s; git status --short --branch",
    yaml,
  );
  expect(third.output).toMatch(/three\\n.*two\\n.*one\\n.*## main/s);
  expect(third.job.git).toBeNull();
});

test("exports a commit in recovery after the runner was killed, and removes the rest", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = createHostRepository(harness.env, harness.workspace);
  chownToContainerUser(harness.workspace);
  const command = "echo 2 >> file; git commit -qam two; touch committed; sleep 600";
  const yaml = "docker: { enabled: true }";
  const task = await assignRun(harness, { yaml, prompt: toolCallPrompt(["Bash", { command }]) });
  const { pid, exited } = createRunnerPool().take(task.assignment);
  await waitUntil(() => existsSync(join(harness.workspace, "committed")));
  process.kill(pid, "SIGKILL");
  await exited;
  const { stateDir } = task.state;
  const ref = `refs/herdctl/${task.job.id}`;
  expect(host.git("for-each-ref", ref)).toBe("");
  const job = { ...task.job, session_home: "docker" as const };
  const report = await collectRunReport({ stateDir, job, environment: harness.env });

  expect(report).toMatchObject({ outcome: { code: "interrupted" }, git: { ref, commits: 1 } });
  expect(host.git("log", "--format=%s", ref)).toBe("two\none");
  expect(containersOfJob(engine, task.job.id)).toEqual([]);
  expect(listRunFolders(stateDir)).toEqual([]);
});

test("leaves a branch that is checked out or would not fast-forward", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = createHostRepository(harness.env, harness.workspace);
  chownToContainerUser(harness.workspace);
  const commit = "echo 2 >> file; git commit -qam more";
  const checkedOut = await runCommandInContainer(
    harness,
    commit,
    "docker: { enabled: true, commit_branch: main }",
  );
  expect(checkedOut.job.warnings.join()).toContain("`main` was not moved: it is checked out");
  const tree = host.git("rev-parse", "HEAD^{tree}");
  const other = host.git("commit-tree", tree, "-m", "other");
  host.git("update-ref", "refs/heads/other", other);
  const back = await runCommandInContainer(
    harness,
    commit,
    "docker: { enabled: true, commit_branch: other }",
  );
  expect(back.job.warnings.join()).toContain("do not build on it");
  expect(host.git("rev-parse", "main", "other").split("\n")).toEqual([
    host.git("rev-parse", "HEAD"),
    other,
  ]);
});

test("works in a linked worktree without writing its repository elsewhere", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const main = join(harness.home, "main-tree");
  mkdirSync(main);
  const host = createHostRepository(harness.env, main);
  host.git("worktree", "add", "-q", "-b", "linked", join(harness.workspace, "tree"));
  const tree = join(harness.workspace, "tree");
  chownToContainerUser(tree);
  const config = readFileSync(join(main, ".git/config"), "utf8");
  const { job, output } = await runCommandInContainer(
    harness,
    "git status --short --branch; git config x.y z; echo 2 >> file; git commit -qam two",
    `working_directory: ${tree}`,
  );
  expect(output).toContain("## linked");
  expect(job.warnings).toEqual([]);
  expect(host.git("show", "-s", "--format=%s", `refs/herdctl/${job.id}`)).toBe("two");
  expect(readFileSync(join(main, ".git/config"), "utf8")).toBe(config);
});

test("exposes nothing of another folder's repository that a `.git` file names", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const secret = join(harness.home, "secret-repository");
  mkdirSync(secret);
  createHostRepository(harness.env, secret);
  writeFileSync(join(harness.workspace, ".git"), `gitdir: ${join(secret, ".git")}\n`);
  const { job, output } = await runCommandInContainer(
    harness,
    "git log --oneline 2>&1; ls /run/herdctl",
  );
  expect(output).not.toContain("one");
  expect(job.warnings.join()).toContain("belongs to another folder");
});

test("keeps an agent's own repository for its next run and off the host's workspace", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const canary = join(harness.home, "CANARY");
  await runCommandInContainer(
    harness,
    `git init -q .; git config core.fsmonitor 'touch ${canary}; false'; git commit -q --allow-empty -m own`,
  );
  expect(existsSync(join(harness.workspace, ".git"))).toBe(false);
  const { output } = await runCommandInContainer(harness, "git -c core.fsmonitor= log --format=%s");
  expect(output).toContain("own");
  expect(existsSync(canary)).toBe(false);
});

test("borrows objects from the repository's alternates without an error of git", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const origin = join(harness.home, "origin");
  mkdirSync(origin);
  createHostRepository(harness.env, origin);
  execFileSync("git", ["clone", "-q", "--shared", origin, harness.workspace]);
  chownToContainerUser(harness.workspace);
  const host = openHostRepository(harness.env, harness.workspace);
  host.git("remote", "set-url", "origin", "https://user:CANARY-token@example.org/x.git?CANARY=1");
  host.git("config", "http.extraHeader", "Authorization: CANARY");
  const { job, output } = await runCommandInContainer(
    harness,
    "git log --format=%s 2>&1; git fsck 2>&1; cat .git/config; echo 2 >> file; git commit -qam two 2>&1",
  );
  expect(output).toContain("one");
  expect(output).toContain("https://example.org/x.git");
  expect(output).not.toMatch(/CANARY|error:|warning:|fatal:/);
  expect(job.git).toMatchObject({ commits: 1 });
});

test("mounts repositories inside the workspace read-only", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = createHostRepository(harness.env, harness.workspace);
  const canary = join(harness.home, "CANARY");
  mkdirSync(join(harness.workspace, "nested"));
  createHostRepository(harness.env, join(harness.workspace, "nested"));
  const empty = host.git("rev-parse", "HEAD");
  host.git("update-index", "--add", "--cacheinfo", `160000,${empty},module`);
  mkdirSync(join(harness.workspace, "module"));
  chownToContainerUser(harness.workspace);
  const attack = `git init -q module; for at in nested module; do printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' >> $at/.git/config; done 2>&1; true`;
  const { output } = await runCommandInContainer(harness, attack);
  expect(output).toMatch(/Read-only file system/);
  host.git("status");
  openHostRepository(harness.env, join(harness.workspace, "nested")).git("status");
  expect(existsSync(canary)).toBe(false);
  expect(readdirSync(join(harness.workspace, "module"))).toEqual([]);
});

test("keeps commits that cannot be exported aside, with a warning that names the place", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  createHostRepository(harness.env, harness.workspace);
  chownToContainerUser(harness.workspace);
  const broken =
    "echo 2 >> file; git commit -qam two; f=$(git rev-parse HEAD^{tree}); p=.git/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-); chmod u+w $p; echo garbage > $p";
  const { job } = await runCommandInContainer(harness, broken);
  expect(job.git).toBeNull();
  expect(job.warnings.join()).toMatch(
    /could not be imported into the repository.*docker-git\/kept/,
  );
  expect(readdirSync(join(stateDirOf(harness), "docker-git/kept"))).toHaveLength(1);
});

test("refuses a bare repository as the workspace", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  execFileSync("git", ["init", "-q", "--bare", harness.workspace]);
  chownToContainerUser(harness.workspace);
  const { job } = await runJobInContainer(harness);
  expect(job.outcome).toMatchObject({ code: "workspace_missing" });
  expect(job.outcome?.message).toContain("is a bare repository");
});
