import { readdirSync, readFileSync } from "node:fs";

/** The processes with this text in their environment. */
export function processesWithMarker(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(marker);
      } catch {
        return false;
      }
    })
    .map(Number);
}
