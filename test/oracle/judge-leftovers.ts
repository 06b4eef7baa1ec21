import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "../../packages/core/src/runner/container/labels.ts";
import { docker } from "../support/container.ts";
import { processList } from "../support/process-list.ts";
import { processesWith } from "../support/processes.ts";
import type { Case } from "./judge-jobs.ts";
import { type Story, type Wrong, wrongs } from "./story.ts";

/** Processes, containers, sockets and drafts that nobody needs once a fleet has stopped. */
export function judgeLeftovers(
  { on, engine }: Story,
  stateDir: string,
  cases: readonly Case[],
): Wrong[] {
  return wrongs("left", [
    ...processesWith(`HOME=${on.home}`).map((pid) => `process ${pid}`),
    ...cases.flatMap(({ job }) =>
      processesWith(job.id).map((pid) => `process ${pid} of ${job.id}`),
    ),
    ...processList()
      .split("\n")
      .filter((line) => line.includes(stateDir))
      .map((line) => `process ${line}`),
    ...(engine ? containersOn(engine, on.workspace) : []),
    ...namesIn(stateDir).filter((name) => !ofState.test(name)),
    ...namesIn(join(stateDir, "mountpoints")).map((name) => `mountpoint ${name}`),
    ...namesIn(join(stateDir, "docker-git", "runs")).map((name) => `git directory ${name}`),
    ...namesIn(join(stateDir, "live")).map((name) => `live ${name}`),
    ...cases.flatMap(({ job }) =>
      namesIn(join(stateDir, "jobs", job.id))
        .filter((name) => !ofJob.test(name))
        .map((name) => `${name} of ${job.id}`),
    ),
    ...namesIn(on.env.TMPDIR ?? "").filter((name) => name.startsWith("herdctl-")),
    ...namesIn(on.workspace).filter((name) => name.startsWith(".")),
  ]);
}

/** What stays in a state directory, and in the folder of a job. */
const ofState =
  /^(herd\.db(-wal|-shm)?|herdctl\.lock|logs|jobs|docker-sessions|docker-git|fleet-id|memory|token|empty|mountpoints|live|claude-versions\.json|node\.json|node-options\.json|lease|ballast)$/;
const ofJob =
  /^(output\.jsonl|outcome\.json|stderr\.log|runner\.log|runner-\d+\.json|spend-\d+\.jsonl)$/;

function containersOn(engine: NonNullable<Story["engine"]>, workspace: string): string[] {
  const label = `label=herdctl.workspace=${fingerprint(workspace)}`;
  const names = docker(engine, "ps", "-a", "--filter", label, "--format", "{{.Names}}");
  return names
    .split("\n")
    .filter(Boolean)
    .map((name) => `container ${name}`);
}

function namesIn(folder: string): string[] {
  return folder !== "" && existsSync(folder) ? readdirSync(join(folder)) : [];
}
