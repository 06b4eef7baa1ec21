import { raceTimeout } from "@herdctl/protocol";
import type { ClaudeProcess } from "./spawn-claude.ts";

export interface StoppableRun {
  process: ClaudeProcess;
  /** Asks claude to end the turn; it then sends a result with the cost. */
  interrupt(): void;
  /** Closes stdin, so that there is no further turn. */
  close(): void;
}

/** The time after each step before the next one. */
export interface StopTimeouts {
  interruptMs: number;
  closeMs: number;
  terminateMs: number;
}

const defaultStopTimeouts: StopTimeouts = {
  interruptMs: 3_000,
  closeMs: 2_000,
  terminateMs: 2_000,
};

/** Stops a run: interrupts it, closes its input, then kills it. */
export async function stopGracefully(
  run: StoppableRun,
  timeouts: StopTimeouts = defaultStopTimeouts,
): Promise<void> {
  run.interrupt();
  if (await exitsWithin(run.process, timeouts.interruptMs)) return;
  run.close();
  await endProcess(run.process, timeouts);
}

/** Waits for a finished process to exit, then kills it. */
export async function endProcess(
  process: ClaudeProcess,
  timeouts: StopTimeouts = defaultStopTimeouts,
): Promise<void> {
  if (await exitsWithin(process, timeouts.closeMs)) return;
  process.kill("SIGTERM");
  if (await exitsWithin(process, timeouts.terminateMs)) return;
  process.kill("SIGKILL");
  await process.exited;
}

function exitsWithin(process: ClaudeProcess, timeoutMs: number): Promise<boolean> {
  const exited = process.exited.then(() => true);
  return raceTimeout(exited, timeoutMs, () => false);
}
