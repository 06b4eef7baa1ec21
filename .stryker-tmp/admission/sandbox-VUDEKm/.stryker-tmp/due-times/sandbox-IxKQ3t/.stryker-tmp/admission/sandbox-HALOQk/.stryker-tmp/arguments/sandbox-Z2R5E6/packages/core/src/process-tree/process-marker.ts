import { listPids, type ProcessEntry, readProc, readProcess } from "./process-table.ts";

/**
 * Yields processes that carry the run's marker as they are found. In a chain where each process forks
 * the next and exits, all of them would be gone by the end of a full scan of `/proc`.
 */
export function* findMarkedProcesses(
  runToken: string,
  unmarked: Set<number>,
): Generator<ProcessEntry> {
  for (const pid of listPids()) {
    if (unmarked.has(pid)) continue;
    const environ = readProc(pid, "environ");
    if (/* defence: marked-process-kill */ environ !== undefined && hasMarker(environ, runToken)) {
      const entry = readProcess(pid, "linux");
      if (entry) yield entry;
      continue;
    }
    // It reads as empty during `execve`.
    if (environ) unmarked.add(pid);
  }
}

/** Whether the marker is a whole entry, not part of another one. */
export function hasMarker(environ: string, runToken: string): boolean {
  // defence: whole-marker
  return `\0${environ}\0`.includes(`\0${runMarkerVariable}=${runToken}\0`);
}

/** The environment variable that marks every process of a run, so that leftovers can be killed. */
export const runMarkerVariable = "HERDCTL_RUN";
