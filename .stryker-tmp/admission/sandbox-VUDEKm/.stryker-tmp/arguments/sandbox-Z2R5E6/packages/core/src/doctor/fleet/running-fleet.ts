import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Fleet } from "@herdctl/config";
import type { Problem } from "@herdctl/protocol";
import { type LockHolder, readLockHolder } from "../../store/sqlite/state-lock.ts";
import { type Finding, failed, notChecked, ok, warning } from "../check.ts";
import type { DoctorTarget } from "../doctor-target.ts";
import { findStaleFiles } from "../fix.ts";

/** A fleet that responded on its socket. */
export interface RunningFleet {
  pid: number;
  /** The URL for browsers and webhooks. */
  url: string | null;
}

export interface FleetStateFacts {
  stateDir: string;
  holder: LockHolder | undefined;
  /** Files left by a fleet that died: its lock file and others. */
  staleFiles: readonly string[];
  isAnswering: boolean;
}

export function checkRunning(stateDir: string, running: RunningFleet | undefined): Finding {
  const holder = readLockHolder(stateDir);
  const hasState = existsSync(stateDir) && readdirSync(stateDir).length > 0;
  const lockNote =
    hasState && existsSync(join(stateDir, "herdctl.lock.json")) ? ["herdctl.lock.json"] : [];
  const staleFiles = hasState && !holder ? [...lockNote, ...findStaleFiles(stateDir)] : [];
  return evaluateRunning({ stateDir, holder, staleFiles, isAnswering: running !== undefined });
}

export function evaluateRunning({
  stateDir,
  holder,
  staleFiles,
  isAnswering,
}: FleetStateFacts): Finding {
  const name = "fleet";
  if (holder && isAnswering)
    return ok(name, `Running: process ${holder.pid}, since ${holder.acquired_at}.`);
  if (holder) {
    const hint =
      "It may be starting or stopping, or be a `herdctl trigger` without a fleet. Check again in a minute.";
    return warning(name, `Process ${holder.pid} uses this fleet but does not respond.`, hint);
  }
  if (staleFiles.length === 0) return ok(name, "Not running, and no process holds its state.");
  const message = `The fleet died without stopping, and left ${staleFiles.join(", ")}.`;
  const hint =
    "Start it again: it adopts running jobs and recovers interrupted ones. `herdctl doctor --fix` removes these files.";
  return { ...warning(name, message, hint), fix: { kind: "remove_stale", stateDir } };
}

const name = "configuration";

export function evaluateConfiguration(target: DoctorTarget): Finding[] {
  if (target.kind === "none") {
    return [notChecked(name, "There is no fleet here.", "Create one with `herdctl init`.")];
  }
  if (target.kind === "refused") return [failed(name, `${target.message}.`, target.hint)];
  if (target.kind === "loaded")
    return [ok(name, `${target.loaded.fleet.file}: ${describeSize(target.loaded.fleet)}.`)];
  return target.problems.map(toFinding);
}

function toFinding({ file, line, column, path, message, hint }: Problem): Finding {
  const text = path === "" ? message : `${path}: ${message}`;
  return { ...failed(name, `${text}.`, hint), place: `${file}:${line}:${column}` };
}

function describeSize({ agents }: Fleet): string {
  const schedules = agents.flatMap((agent) => Object.keys(agent.schedules)).length;
  return `${pluralize(agents.length, "agent")}, ${pluralize(schedules, "schedule")}`;
}

function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
