import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A running process. Pid and start time together identify it uniquely. */
export interface ProcessEntry {
  pid: number;
  ppid: number;
  startTime: string;
}

/** All running processes. */
export function readProcesses(platform: NodeJS.Platform): ProcessEntry[] {
  if (platform !== "linux") return parsePs(runPs());
  return listPids().flatMap((pid) => readProcess(pid, platform) ?? []);
}

export function readProcess(pid: number, platform: NodeJS.Platform): ProcessEntry | undefined {
  if (platform !== "linux") return readProcesses(platform).find((entry) => entry.pid === pid);
  const stat = readProc(pid, "stat");
  return stat === undefined ? undefined : parseStat(stat);
}

/** A process and its ancestors. On systems other than Linux: all processes. */
export function readAncestry(pid: number, platform: NodeJS.Platform): ProcessEntry[] {
  if (platform !== "linux") return readProcesses(platform);
  const ancestry: ProcessEntry[] = [];
  let entry = readProcess(pid, platform);
  while (entry !== undefined) {
    ancestry.push(entry);
    entry = readProcess(entry.ppid, platform);
  }
  return ancestry;
}

/** Highest pid first (usually the newest), to see processes that fork during the scan before they exit. */
export function listPids(): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.sort((a, b) => b - a);
}

/** A file in `/proc/PID`, or undefined if the process is gone or we may not read it. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}

/** Fields from the third on. The program name is in parentheses and may contain spaces and parentheses. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

export function parseStat(stat: string): ProcessEntry | undefined {
  const fields = statFields(stat);
  const [state, ppid] = fields;
  const startTime = fields[19];
  if (startTime === undefined || isDead(state)) return undefined;
  return { pid: Number.parseInt(stat, 10), ppid: Number(ppid), startTime };
}

export function parsePs(text: string): ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const [pid, ppid, state, ...started] = line.trim().split(/\s+/);
    if (started.length === 0 || isDead(state)) return [];
    return [{ pid: Number(pid), ppid: Number(ppid), startTime: started.join(" ") }];
  });
}

function isDead(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state);
}

function runPs(): string {
  return execFileSync("ps", ["-Ao", "pid=,ppid=,state=,lstart="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
}
