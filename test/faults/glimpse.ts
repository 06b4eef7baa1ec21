import { readFileSync } from "node:fs";
import { fingerprint } from "../../packages/core/src/runner/container/labels.ts";
import { docker } from "../support/container.ts";
import type { TestEngine } from "../support/engine.ts";

/** The arguments of a process, as anybody on the machine can read them. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // It ended between the two looks.
    return "";
  }
}

/** What the engine tells of the containers of a workspace, and what they said. */
export function containersSeen(engine: TestEngine, workspace: string): string[] {
  const label = `label=herdctl.workspace=${fingerprint(workspace)}`;
  const ids = docker(engine, "ps", "-aq", "--filter", label).split("\n").filter(Boolean);
  return ids.flatMap((id) => {
    try {
      return [docker(engine, "inspect", id), docker(engine, "logs", id)];
    } catch {
      // It was removed between the two looks.
      return [];
    }
  });
}
