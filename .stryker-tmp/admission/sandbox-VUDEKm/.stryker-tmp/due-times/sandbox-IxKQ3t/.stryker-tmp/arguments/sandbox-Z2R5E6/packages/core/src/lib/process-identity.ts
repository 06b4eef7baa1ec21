import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessIdentity } from "@herdctl/protocol";

/** Undefined if no such process is running. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const read = process.platform === "linux" ? readProcStartTime : readPsStartTime;
  const start_time = read(pid);
  return start_time === undefined ? undefined : { pid, start_time, boot_id: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const running = identifyProcess(identity.pid);
  return running?.start_time === identity.start_time && running.boot_id === identity.boot_id;
}

const pollIntervalMs = 200;

/** Polls for the exit of a process that is not our child. An abort stops the polling. */
export async function waitForExit(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && isAlive(process)) await delay(pollIntervalMs);
}

let cachedIdentity: ProcessIdentity | undefined;

export function currentProcess(): ProcessIdentity {
  cachedIdentity ??= identifyProcess(process.pid);
  if (cachedIdentity === undefined) throw new Error("cannot read the start time of this process");
  return cachedIdentity;
}

function readProcStartTime(pid: number): string | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // The program name is in parentheses and may itself contain spaces and parentheses.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : rest[18];
}

function readPsStartTime(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: "C" };
  const started = tryRead(() => runCommand("ps", ["-o", "lstart=", "-p", String(pid)], env));
  return started === "" ? undefined : started;
}

let cachedBootId: string | undefined;

function bootId(): string {
  cachedBootId ??= (
    process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
      : runCommand("sysctl", ["-n", "kern.bootsessionuuid"], process.env)
  ).trim();
  return cachedBootId;
}

function runCommand(program: string, args: string[], env: NodeJS.ProcessEnv): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
