import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import {
  type CollectedGit,
  collectGit,
} from "../../packages/core/src/private-git/private-git-lifecycle.ts";
import { collectLateCommits } from "../../packages/core/src/runner/recovery/collect-late-commits.ts";
import {
  collectRunReport,
  type EndedRun,
} from "../../packages/core/src/runner/recovery/collect-report.ts";
import { writeOutcome } from "../../packages/core/src/store/files/outcome-file.ts";
import {
  listRunFolders,
  type PrivateGitHarness,
  startPrivateGitHarness,
} from "../support/private-git-harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const program = join(import.meta.dirname, "programs/collect-report.mjs");
const job = "job-1";
const ref = `refs/herdctl/${job}`;

test("imports commits once, whichever step the import is killed after", async () => {
  const calls = (await killAfterCalls(await commitInRun(), Number.POSITIVE_INFINITY)).calls;
  expect(calls).toBe(6);
  for (let call = 1; call <= calls; call += 1) {
    const run = await commitInRun();
    const { killed } = killAfterCalls(run, call);
    expect(killed).toBe(true);
    expectAll(run, summarizeRecovery(await collectGit(run.folder, job)));
  }
});

test("gives the same answer when the first one was lost", async () => {
  const run = await commitInRun();
  const first = await collectGit(run.folder, job);
  expectAll(run, summarizeRecovery(first));
  expect(await collectGit(run.folder, job)).toEqual(first);
  const next = await collectGit(run.folder, "job-2");
  expect(next.git).toBeNull();
});

test("imports commits despite a stale lock of a killed git on the run's reference", async () => {
  const run = await commitInRun();
  mkdirSync(join(run.workspace, ".git/refs/herdctl"), { recursive: true });
  writeFileSync(join(run.workspace, `.git/${ref}.lock`), "");
  expectAll(run, summarizeRecovery(await collectGit(run.folder, job)));
});

test("keeps commits of an attempt when the next one starts elsewhere", async () => {
  const first = await commitInRun();
  await collectGit(first.folder, job);
  first.host.git("commit", "-q", "--allow-empty", "-m", "of the operator");
  const second = await first.openRun("job-1.2");
  second.gitAsAgent("switch", "-q", "side");
  second.gitAsAgent("reset", "-q", "--hard", "main");
  second.commitAsAgent("other side");
  second.gitAsAgent("switch", "-q", "main");
  const head = second.commitAsAgent("four");
  const { git } = await collectGit(second.folder, job);
  const { host } = first;
  expect(host.git("rev-parse", ref)).toBe(head);
  const kept = git?.other_refs.filter((name) => name.startsWith(`refs/herdctl-earlier/${job}/`));
  expect(kept?.map((name) => host.git("show", "-s", "--format=%s", name)).sort()).toEqual([
    "side",
    "three",
  ]);
  expect(await collectGit(second.folder, job)).toMatchObject({ git });
});

test("imports a dead runner's commits in its recovery, and later ones of its container as well", async () => {
  const run = await commitInRun();
  const dead = deadRunInput(run);
  const report = await collectRunReport(dead);
  expectAll(run, report.git ?? null);
  expect(await collectRunReport(dead)).toEqual(report);

  // The engine did not answer, so the container may have continued until it was removed.
  run.commitAsAgent("late");
  await collectLateCommits(run.stateDir, async () => true);
  expect(run.host.git("log", "-2", "--format=%s", ref)).toBe("late\nthree");
  expect(listRunFolders(run.stateDir)).toEqual([]);
});

test("leaves no git directory when a runner dies after its report", async () => {
  const run = await commitInRun();
  const dead = deadRunInput(run);
  const collected = await collectRunReport(dead);
  await run.openRun("job-1.1");
  expect(listRunFolders(run.stateDir)).toEqual(["job-1.1"]);
  await writeOutcome(join(run.stateDir, "jobs", job), { ...collected, crashed: false });
  await collectRunReport(dead);
  expect(listRunFolders(run.stateDir)).toEqual([]);
});

function deadRunInput({ stateDir }: PrivateGitHarness): EndedRun {
  mkdirSync(join(stateDir, "jobs", job), { recursive: true });
  const environment = { DOCKER_HOST: `unix://${stateDir}/no-engine.sock` };
  const id = { id: job, attempts: 1, session_id: null };
  return { stateDir, job: { ...id, session_home: "docker" }, environment };
}

interface CommittedRun extends PrivateGitHarness {
  head: string;
}

/** A run with two commits on the agent's HEAD and one on another branch. */
async function commitInRun(): Promise<CommittedRun> {
  const run = await startPrivateGitHarness({ commitBranch: "agents/work" });
  run.gitAsAgent("switch", "-qc", "side");
  run.commitAsAgent("side");
  run.gitAsAgent("switch", "-q", "main");
  run.commitAsAgent("two");
  return { ...run, head: run.commitAsAgent("three") };
}

function summarizeRecovery({ git, warnings }: CollectedGit) {
  expect(warnings).toEqual([]);
  return git;
}

function expectAll(run: CommittedRun, git: CollectedGit["git"]): void {
  const { host, head } = run;
  expect(git).toEqual({
    head_before: host.git("rev-parse", "HEAD"),
    head_after: head,
    ref,
    commits: 2,
    branch: "agents/work",
    other_refs: [`refs/herdctl-branches/${job}/side`],
  });
  expect(host.git("log", "--format=%s", ref)).toBe("three\ntwo\none");
  expect(host.git("rev-parse", "agents/work")).toBe(head);
  host.git("fsck", "--strict");
}

/** Imports in a process that is killed after git's n-th writing step, or after its last. */
function killAfterCalls(
  { folder }: PrivateGitHarness,
  call: number,
): { calls: number; killed: boolean } {
  const bin = tempFolderWith({ calls: "" });
  const git = join(bin, "git");
  writeFileSync(
    git,
    `#!/bin/sh
PATH='${process.env.PATH}'
git "$@"
code=$?
case " $* " in *" fetch "* | *" update-ref "* | *" diff-tree "*) ;; *) exit $code ;; esac
echo x >> '${bin}/calls'
[ "$(wc -l < '${bin}/calls')" -eq ${Number.isFinite(call) ? call : -1} ] && kill -9 $PPID
exit $code
`,
  );
  chmodSync(git, 0o755);
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  const { signal, stderr } = spawnSync(process.execPath, [program, folder, job], {
    env,
    encoding: "utf8",
  });
  if (signal === null) expect(stderr).toBe("");
  return {
    calls: readFileSync(join(bin, "calls"), "utf8").length / 2,
    killed: signal === "SIGKILL",
  };
}
