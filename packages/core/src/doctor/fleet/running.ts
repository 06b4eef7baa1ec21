import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type LockHolder, lockHolder } from "../../state/lock.ts";
import { type Finding, ok, warning } from "../check.ts";
import { staleNames } from "../fix.ts";

/** The fleet that answered on its socket. */
export interface RunningFleet {
  pid: number;
  /** Where it listens for browsers and webhooks. */
  url: string | null;
}

export interface LifeFacts {
  stateDir: string;
  holder: LockHolder | undefined;
  /** A holder wrote its name and did not take it away, or left other files. */
  leftovers: readonly string[];
  answers: boolean;
}

export function checkRunning(stateDir: string, running: RunningFleet | undefined): Finding {
  const holder = lockHolder(stateDir);
  const isThere = existsSync(stateDir) && readdirSync(stateDir).length > 0;
  const note =
    isThere && existsSync(join(stateDir, "herdctl.lock.json")) ? ["herdctl.lock.json"] : [];
  const leftovers = isThere && !holder ? [...note, ...staleNames(stateDir)] : [];
  return judgeRunning({ stateDir, holder, leftovers, answers: running !== undefined });
}

export function judgeRunning({ stateDir, holder, leftovers, answers }: LifeFacts): Finding {
  const name = "fleet";
  if (holder && answers)
    return ok(name, `It runs: process ${holder.pid}, since ${holder.acquired_at}.`);
  if (holder) {
    const hint =
      "It may be starting, stopping, or a `herdctl trigger` that runs alone: look again in a minute.";
    return warning(name, `Process ${holder.pid} works on this fleet but does not answer.`, hint);
  }
  if (leftovers.length === 0) return ok(name, "It does not run, and nothing holds its state.");
  const message = `It died without stopping, and left ${leftovers.join(", ")}.`;
  const hint =
    "Start it again: it finds what runs on and settles what was cut off. `herdctl doctor --fix` removes these files.";
  return { ...warning(name, message, hint), fix: { kind: "remove_stale", stateDir } };
}
