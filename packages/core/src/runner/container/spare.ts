import { join } from "node:path";

/** A container that has started and waits to be told what to run. */
export interface SpareContainer {
  id: string;
  /** What it was given, to be compared with what a run needs. */
  print: string;
  /** Its private files and sockets, mounted already; those of the run that takes it. */
  folder: string;
}

/** What a run has beside its job: in the job's own folder, or in the spare's. */
export function runFolders(folder: string): { privateDir: string; doorDir: string } {
  return { privateDir: join(folder, "private"), doorDir: join(folder, "door") };
}

export function sparesDir(stateDir: string): string {
  return join(stateDir, "spare-containers");
}
