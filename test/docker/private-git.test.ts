import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dockerStage, giveAll, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { hostGit, makeRepository } from "../support/host-git.ts";
import { logOf, stateDirOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();

async function run(on: Stage, command: string, yaml = "") {
  const { job } = await runContained(on, { yaml, prompt: obey(["Bash", { command }]) });
  expect(job.outcome?.code).toBe("success");
  return { job, said: toolResults(await logOf(job)).join("\n") };
}

test("an agent's history continues where its last run ended, until the host's HEAD moves", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const host = makeRepository(on.env, on.workspace);
  giveAll(on.workspace);
  const yaml = "docker: { enabled: true, commit_branch: agents/work }";

  const first = await run(
    on,
    "git switch -qc topic; echo 2 > two; git add two; git commit -qm two",
    yaml,
  );
  const second = await run(
    on,
    "git status --short --branch; echo 3 > three; git add three; git commit -qm three",
    yaml,
  );
  expect(second.said).toContain("## topic");
  expect(second.said).not.toContain("??");
  expect(second.job.git).toMatchObject({
    head_before: first.job.git?.head_after,
    commits: 1,
    branch: "agents/work",
  });
  expect(host.git("log", "--format=%s", "agents/work")).toBe("three\ntwo\none");
  expect(host.git("branch", "--show-current")).toBe("main");

  // The files are there already: taking the commits over is moving the branch.
  host.git("reset", "-q", second.job.git?.ref ?? "");
  expect(host.git("status", "--porcelain")).toBe("");
  const third = await run(on, "git log --format=%s; git status --short --branch", yaml);
  expect(third.said).toMatch(/three\\n.*two\\n.*one\\n.*## main/s);
  expect(third.job.git).toBeNull();
});

test("a branch that is checked out, or would not go forward, is left where it is", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const host = makeRepository(on.env, on.workspace);
  giveAll(on.workspace);
  const commit = "echo 2 >> file; git commit -qam more";
  const checkedOut = await run(on, commit, "docker: { enabled: true, commit_branch: main }");
  expect(checkedOut.job.warnings.join()).toContain(
    "`main` was left where it is: it is checked out",
  );
  const tree = host.git("rev-parse", "HEAD^{tree}");
  const other = host.git("commit-tree", tree, "-m", "other");
  host.git("update-ref", "refs/heads/other", other);
  const back = await run(on, commit, "docker: { enabled: true, commit_branch: other }");
  expect(back.job.warnings.join()).toContain("do not build on it");
  expect(host.git("rev-parse", "main", "other").split("\n")).toEqual([
    host.git("rev-parse", "HEAD"),
    other,
  ]);
});

test("git works in a linked worktree, whose repository lies elsewhere and is not written", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const main = join(on.home, "main-tree");
  mkdirSync(main);
  const host = makeRepository(on.env, main);
  host.git("worktree", "add", "-q", "-b", "linked", join(on.workspace, "tree"));
  const tree = join(on.workspace, "tree");
  giveAll(tree);
  const config = readFileSync(join(main, ".git/config"), "utf8");
  const { job, said } = await run(
    on,
    "git status --short --branch; git config x.y z; echo 2 >> file; git commit -qam two",
    `working_directory: ${tree}`,
  );
  expect(said).toContain("## linked");
  expect(job.warnings).toEqual([]);
  expect(host.git("show", "-s", "--format=%s", `refs/herdctl/${job.id}`)).toBe("two");
  expect(readFileSync(join(main, ".git/config"), "utf8")).toBe(config);
});

test("a `.git` file that names another folder's repository gives nothing of it away", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const secret = join(on.home, "secret-repository");
  mkdirSync(secret);
  makeRepository(on.env, secret);
  writeFileSync(join(on.workspace, ".git"), `gitdir: ${join(secret, ".git")}\n`);
  const { job, said } = await run(on, "git log --oneline 2>&1; ls /run/herdctl");
  expect(said).not.toContain("one");
  expect(job.warnings.join()).toContain("belongs to another folder");
});

test("an agent's own repository is kept for its next run, and the host never has it in the workspace", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const canary = join(on.home, "CANARY");
  await run(
    on,
    `git init -q .; git config core.fsmonitor 'touch ${canary}; false'; git commit -q --allow-empty -m own`,
  );
  expect(existsSync(join(on.workspace, ".git"))).toBe(false);
  const { said } = await run(on, "git -c core.fsmonitor= log --format=%s");
  expect(said).toContain("own");
  expect(existsSync(canary)).toBe(false);
});

test("objects are borrowed from where the repository borrows its own, and git has nothing to complain of", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const origin = join(on.home, "origin");
  mkdirSync(origin);
  makeRepository(on.env, origin);
  execFileSync("git", ["clone", "-q", "--shared", origin, on.workspace]);
  giveAll(on.workspace);
  const host = hostGit(on.env, on.workspace);
  host.git("remote", "set-url", "origin", "https://user:CANARY-token@example.org/x.git?CANARY=1");
  host.git("config", "http.extraHeader", "Authorization: CANARY");
  const { job, said } = await run(
    on,
    "git log --format=%s 2>&1; git fsck 2>&1; cat .git/config; echo 2 >> file; git commit -qam two 2>&1",
  );
  expect(said).toContain("one");
  expect(said).toContain("https://example.org/x.git");
  expect(said).not.toMatch(/CANARY|error:|warning:|fatal:/);
  expect(job.git).toMatchObject({ commits: 1 });
});

test("repositories inside of the workspace that are there before are read-only", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const host = makeRepository(on.env, on.workspace);
  const canary = join(on.home, "CANARY");
  mkdirSync(join(on.workspace, "nested"));
  makeRepository(on.env, join(on.workspace, "nested"));
  const empty = host.git("rev-parse", "HEAD");
  host.git("update-index", "--add", "--cacheinfo", `160000,${empty},module`);
  mkdirSync(join(on.workspace, "module"));
  giveAll(on.workspace);
  const attack = `git init -q module; for at in nested module; do printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' >> $at/.git/config; done 2>&1; true`;
  const { said } = await run(on, attack);
  expect(said).toMatch(/Read-only file system/);
  host.git("status");
  hostGit(on.env, join(on.workspace, "nested")).git("status");
  expect(existsSync(canary)).toBe(false);
  expect(readdirSync(join(on.workspace, "module"))).toEqual([]);
});

test("commits that cannot be brought out are kept aside, with a warning that says where", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  makeRepository(on.env, on.workspace);
  giveAll(on.workspace);
  const broken =
    "echo 2 >> file; git commit -qam two; f=$(git rev-parse HEAD^{tree}); p=.git/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-); chmod u+w $p; echo garbage > $p";
  const { job } = await run(on, broken);
  expect(job.git).toBeNull();
  expect(job.warnings.join()).toMatch(/could not be brought into the repository.*docker-git\/kept/);
  expect(readdirSync(join(stateDirOf(on), "docker-git/kept"))).toHaveLength(1);
});

test("a bare repository as the workspace is refused", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  execFileSync("git", ["init", "-q", "--bare", on.workspace]);
  giveAll(on.workspace);
  const { job } = await runContained(on);
  expect(job.outcome).toMatchObject({ code: "workspace_missing" });
  expect(job.outcome?.message).toContain("is a bare repository");
});
