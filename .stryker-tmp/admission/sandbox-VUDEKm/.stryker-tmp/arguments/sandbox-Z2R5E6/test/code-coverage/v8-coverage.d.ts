/** The package's entry point exports no types. */
declare module "@bcoe/v8-coverage" {
  import type { Profiler } from "node:inspector";

  export interface ProcessCov {
    result: Profiler.ScriptCoverage[];
  }
  export function mergeProcessCovs(all: readonly ProcessCov[]): ProcessCov;
}
