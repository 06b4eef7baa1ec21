/** The package brings no types that its entry would lead to. */
declare module "@bcoe/v8-coverage" {
  import type { Profiler } from "node:inspector";

  export interface ProcessCov {
    result: Profiler.ScriptCoverage[];
  }
  export function mergeProcessCovs(all: readonly ProcessCov[]): ProcessCov;
}
