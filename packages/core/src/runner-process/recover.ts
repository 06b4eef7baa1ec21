import type { RunReport } from "../runner/run-report.ts";
import type { Job } from "../state/job.ts";

export interface DeadRun {
  stateDir: string;
  /** `attempts` is the number of the attempt whose runner died. */
  job: Pick<Job, "id" | "attempts" | "session_id">;
}

/** Ends what the dead runner left running, then tells from what it left on disk how its run went. */
export async function reportOfDead(_dead: DeadRun): Promise<RunReport> {
  throw new Error("not yet");
}
