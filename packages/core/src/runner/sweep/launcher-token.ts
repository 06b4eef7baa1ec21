import { identifyProcess, type ProcessIdentity } from "../../state/process-identity.ts";
import { RunCgroup } from "./cgroup.ts";

/** The token of a launcher, until it becomes a program of a run: it is its runner's. */
export function launcherToken({ pid, start_time }: ProcessIdentity): string {
  return `launcher.${pid}.${start_time}`;
}

export async function removeGroup(token: string): Promise<void> {
  await RunCgroup.find(token)?.remove();
}

/** A runner that is killed leaves the control group of its launcher, which goes by itself. */
export function removeGroupsOfDead(): void {
  for (const token of RunCgroup.tokens()) {
    if (isOfDead(token)) RunCgroup.find(token)?.removeEmpty();
  }
}

function isOfDead(token: string): boolean {
  const [, pid, startTime] = /^launcher\.(\d+)\.(.+)$/.exec(token) ?? [];
  if (pid === undefined || startTime === undefined) return false;
  return identifyProcess(Number(pid))?.start_time !== startTime;
}
