import { readFileSync } from "node:fs";
import { shortHash } from "../../packages/core/src/docker/container-labels.ts";
import type { TestEngine } from "../support/docker-engine.ts";
import { docker } from "../support/docker-harness.ts";

/** The command lines of all processes, which every local user can read. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // The process ended between listing and reading.
    return "";
  }
}

/** The inspect output and the logs of the containers of a workspace. */
export function visibleContainerData(engine: TestEngine, workspace: string): string[] {
  const label = `label=herdctl.workspace=${shortHash(workspace)}`;
  const ids = docker(engine, "ps", "-aq", "--filter", label).split("\n").filter(Boolean);
  return ids.flatMap((id) => {
    try {
      return [docker(engine, "inspect", id), docker(engine, "logs", id)];
    } catch {
      // The container was removed between listing and reading.
      return [];
    }
  });
}
