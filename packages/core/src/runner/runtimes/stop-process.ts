import { PassThrough } from "node:stream";
import { raceTimeout } from "@herdctl/protocol";
import { OutputGate } from "./output-limit.ts";
import type { RuntimeObserver } from "./runtime-interface.ts";
import type { ClaudeProcess } from "./spawn-claude.ts";

interface StoppableRun {
  process: ClaudeProcess;
  /** Asks claude to end the turn; it then sends a result with the cost. */
  interrupt(): void;
  /** Closes stdin, so that there is no further turn. */
  close(): void;
}

/** The time after each step before the next one. */
interface StopTimeouts {
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

/**
 * Reports all events of the process to the observer. Its output is read as fast as it arrives,
 * because an older claude loses output that a slow reader leaves in the pipe.
 */
export function observeProcess(
  process: ClaudeProcess,
  observer: RuntimeObserver = {},
): ClaudeProcess {
  observer.onSpawned?.(process.pid);
  const stdout = new PassThrough();
  const gate = new OutputGate(() => observer.isCaughtUp?.() ?? true);
  const endOutput = () => {
    if (!stdout.writableEnded) stdout.end(gate.end());
  };
  process.stdout.on("data", (chunk: Buffer) => {
    observer.onActivity?.();
    // defence: message-length-limit
    stdout.write(gate.push(chunk));
  });
  // A broken pipe counts as ended; missing messages show in the evidence.
  for (const event of ["end", "close", "error"]) process.stdout.once(event, endOutput);
  process.stderr.setEncoding("utf8");
  process.stderr.on("error", () => undefined);
  process.stderr.on("data", (text: string) => {
    observer.onActivity?.();
    observer.onStderr?.(text);
  });
  void process.exited.then((exit) => observer.onExited?.(exit));
  return { ...process, stdout };
}
