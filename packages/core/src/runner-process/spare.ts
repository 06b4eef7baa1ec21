import type { RunnerAssignment } from "./contract.ts";

export interface StartedRunner {
  pid: number;
  /** Never rejects. A runner that came too late exits, too: `inspectRunner` tells which it was. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface SparePoolOptions {
  size?: number;
  program?: string;
}

/** Keeps runner processes warm, so that a job does not pay for their start. */
export class SparePool {
  constructor(_options: SparePoolOptions = {}) {}

  /** Gives an attempt to a runner that needs nobody from then on, this process least of all. */
  take(_assignment: RunnerAssignment): StartedRunner {
    throw new Error("not yet");
  }

  /** Ends the spares. Runners go on. */
  async stop(): Promise<void> {}
}
