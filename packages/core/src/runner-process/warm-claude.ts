import { chooseTools, emptyTable } from "../herd-tools/choose-tools.ts";
import { gitFolderOf } from "../runner/git/private-session.ts";
import { knownSecrets } from "../runner/known-secrets.ts";
import { stampGit } from "../runner/live/git-stamp.ts";
import { makeLiveFolder } from "../runner/live/live-folder.ts";
import { livePrint } from "../runner/live/print.ts";
import { openRun } from "../runner/open-run.ts";
import { Redactor } from "../runner/redactor.ts";
import { runTokenOf } from "../runner/run-order.ts";
import { RunningAttempt, type RunWatch } from "../runner/running-attempt.ts";
import { RuntimeFactory } from "../runner/runtime/factory.ts";
import type { RunnerAssignment } from "./contract.ts";
import type { LiveRun } from "./live-run.ts";

/** Starts a `claude` for a job that is still to come: its order is this one with a prompt. */
export async function warmClaude(
  { stateDir, order, environment }: RunnerAssignment,
  live: LiveRun,
): Promise<void> {
  const runToken = runTokenOf(order);
  const print = livePrint({ ...order, live: true }, environment);
  const git = stampGit(order);
  const folder = makeLiveFolder(stateDir, runToken);
  const gitDir = order.place === "docker" ? gitFolderOf(stateDir, runToken) : undefined;
  const opened = await openRun(order, environment, folder, { folder, gitDir });
  if (opened.kind === "refused") return;
  const { run } = opened;
  const table = emptyTable();
  const runtime = RuntimeFactory.createLive(order.agent, { stateDir, environment });
  // Whoever is asked, and what the tools do, is for the job to say.
  const redactor = new Redactor(knownSecrets(order.agent, environment));
  const watch: RunWatch = {
    onPermission: async () => ({ behavior: "deny", message: "There is no job yet." }),
    onQuestion: async () => ({ kind: "none", why: "nobody" }),
    ownTools: (doors) => chooseTools({ ...doors, order, jobDir: folder, stateDir }, table),
  };
  const attempt = new RunningAttempt(order, run, folder, watch, redactor);
  await attempt.startOnly(runtime);
  live.keepUnused({ runToken, print, runtime, table }, run, git);
}
