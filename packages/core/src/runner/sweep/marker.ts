import { runMarker } from "../environment.ts";
import { listPids, type ProcessEntry, readProc, readProcess } from "./process-table.ts";

/**
 * Processes that carry the run's marker, one by one as they are found: of a chain in which each
 * forks the next and exits, none is left by the time that all of `/proc` is read.
 */
export function* findMarked(runToken: string, innocent: Set<number>): Generator<ProcessEntry> {
  for (const pid of listPids()) {
    if (innocent.has(pid)) continue;
    const environ = readProc(pid, "environ");
    if (environ !== undefined && carriesMarker(environ, runToken)) {
      const entry = readProcess(pid, "linux");
      if (entry) yield entry;
      continue;
    }
    // It reads as empty for a moment while a process starts another program.
    if (environ) innocent.add(pid);
  }
}

/** Whether the marker is one whole entry, not a part of another one. */
export function carriesMarker(environ: string, runToken: string): boolean {
  return `\0${environ}\0`.includes(`\0${runMarker}=${runToken}\0`);
}
