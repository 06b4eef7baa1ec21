import { readdirSync, readFileSync } from "node:fs";

/** The command lines of all processes, which every local user can read. */
export function listProcesses(): string {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => argumentsOf(pid).replaceAll("\0", " "))
    .join("\n");
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // The process ended between listing and reading.
    return "";
  }
}
