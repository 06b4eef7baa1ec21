import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { shortHash } from "../../packages/core/src/docker/container-labels.ts";
import { docker } from "../support/docker-harness.ts";
import { listProcesses } from "../support/process-list.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import type { JobCase } from "./check-jobs.ts";
import { type ObservedRun, type Violation, violations } from "./observed-run.ts";

/** Processes, containers, sockets and drafts that must be gone once a fleet has stopped. */
export function checkLeftovers(
  { harness, engine }: ObservedRun,
  stateDir: string,
  cases: readonly JobCase[],
): Violation[] {
  return violations("left", [
    ...processesWithMarker(`HOME=${harness.home}`).map((pid) => `process ${pid}`),
    ...cases.flatMap(({ job }) =>
      processesWithMarker(job.id).map((pid) => `process ${pid} of ${job.id}`),
    ),
    ...listProcesses()
      .split("\n")
      .filter((line) => line.includes(stateDir))
      .map((line) => `process ${line}`),
    ...(engine ? containersOfWorkspace(engine, harness.workspace) : []),
    ...listNames(stateDir).filter((name) => !expectedStateFiles.test(name)),
    ...listNames(join(stateDir, "mountpoints")).map((name) => `mountpoint ${name}`),
    ...listNames(join(stateDir, "docker-git", "runs")).map((name) => `git directory ${name}`),
    ...listNames(join(stateDir, "live")).map((name) => `live ${name}`),
    ...cases.flatMap(({ job }) =>
      listNames(join(stateDir, "jobs", job.id))
        .filter((name) => !expectedJobFiles.test(name))
        .map((name) => `${name} of ${job.id}`),
    ),
    ...listNames(harness.env.TMPDIR ?? "").filter((name) => name.startsWith("herdctl-")),
    ...listNames(harness.workspace).filter((name) => name.startsWith(".")),
  ]);
}

/** The files that may remain in a state directory and in a job folder. */
const expectedStateFiles =
  /^(herd\.db(-wal|-shm)?|herdctl\.lock|logs|jobs|docker-sessions|docker-git|fleet-id|memory|token|empty|mountpoints|live|claude-versions\.json|node\.json|node-options\.json|lease|ballast)$/;
const expectedJobFiles =
  /^(output\.jsonl|outcome\.json|stderr\.log|runner\.log|runner-\d+\.json|spend-\d+\.jsonl)$/;

function containersOfWorkspace(
  engine: NonNullable<ObservedRun["engine"]>,
  workspace: string,
): string[] {
  const label = `label=herdctl.workspace=${shortHash(workspace)}`;
  const names = docker(engine, "ps", "-a", "--filter", label, "--format", "{{.Names}}");
  return names
    .split("\n")
    .filter(Boolean)
    .map((name) => `container ${name}`);
}

function listNames(folder: string): string[] {
  return folder !== "" && existsSync(folder) ? readdirSync(join(folder)) : [];
}
