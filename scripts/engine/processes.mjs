import { readdirSync, readFileSync } from "node:fs";

/** Processes that were started with this folder in their arguments: nobody else knows its name. */
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
    // It ended between the two looks.
    return "";
  }
}
