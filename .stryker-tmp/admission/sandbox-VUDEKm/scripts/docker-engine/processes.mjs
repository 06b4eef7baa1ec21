import { readdirSync, readFileSync } from "node:fs";

/** Processes with this folder, whose name is unique, in their arguments. */
export function processesOf(folder) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => argumentsOf(pid).includes(folder))
    .map(Number);
}

function argumentsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // The process has exited.
    return "";
  }
}
