// What Linux tells of a process.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** Seconds of processor time since its start. */
export function processorTime(pid) {
  const [user, system] = statOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}

export function childrenOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

/** In MB: all that is in memory, and what no other process shares. */
export function memoryOf(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const amount = (name) => Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(rollup)[1]) / 1024;
  return { rss: amount("Rss"), private: amount("Private_Clean") + amount("Private_Dirty") };
}

function parentOf(pid) {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return undefined;
  }
}

/** The fields from the state on; the name before it may hold anything. */
function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
