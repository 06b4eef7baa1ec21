import type { ClaudeProcess } from "./spawn.ts";

export interface Stoppable {
  process: ClaudeProcess;
  /** Asks for an end of the turn; claude then closes it properly, with a result and its cost. */
  interrupt(): void;
  /** Closes standard input: there will be no further turn. */
  close(): void;
}

/** How long each step may take before the next, in milliseconds. */
export interface Patience {
  interrupt: number;
  close: number;
  terminate: number;
}

const patience: Patience = { interrupt: 3_000, close: 2_000, terminate: 2_000 };

/** Ends a run that shall not go on: by asking, by closing, by force. */
export async function windDown(run: Stoppable, steps: Patience = patience): Promise<void> {
  run.interrupt();
  if (await exitsWithin(run.process, steps.interrupt)) return;
  run.close();
  await endProcess(run.process, steps);
}

/** Ends a process that has said its last word but may not find its way out. */
export async function endProcess(
  process: ClaudeProcess,
  steps: Patience = patience,
): Promise<void> {
  process.expectExit?.();
  if (await exitsWithin(process, steps.close)) return;
  process.kill("SIGTERM");
  if (await exitsWithin(process, steps.terminate)) return;
  process.kill("SIGKILL");
  await process.exited;
}

async function exitsWithin(process: ClaudeProcess, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const gone = process.exited.then(() => true);
  const result = await Promise.race([gone, late]);
  clearTimeout(timer);
  return result;
}
