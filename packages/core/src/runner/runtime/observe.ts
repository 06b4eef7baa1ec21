import { PassThrough } from "node:stream";
import { certainEnd } from "./certain-end.ts";
import type { RuntimeObserver } from "./interface.ts";
import { OutputGate } from "./output-gate.ts";
import type { ClaudeProcess, ProcessExit } from "./spawn.ts";

/**
 * Tells the observer of everything the process shows. Its output is taken as fast as it comes,
 * whoever reads it: an older claude loses what a slow reader leaves in the pipe.
 */
export function watchProcess(
  process: ClaudeProcess,
  observer: RuntimeObserver = {},
): ClaudeProcess {
  observer.spawned?.(process.pid, process.group);
  const stdout = new PassThrough();
  const gate = new OutputGate(() => observer.isCaughtUp?.() ?? true);
  const endOutput = () => {
    if (!stdout.writableEnded) stdout.end(gate.end());
  };
  process.stdout.on("data", (chunk: Buffer) => {
    observer.activity?.();
    // After its end it can only be of something that it left behind.
    if (!stdout.writableEnded) stdout.write(gate.push(chunk));
  });
  // A pipe that breaks has ended; what is missing shows in the evidence.
  for (const event of ["end", "close", "error"]) process.stdout.once(event, endOutput);
  process.stderr.setEncoding("utf8");
  process.stderr.on("error", () => undefined);
  process.stderr.on("data", (text: string) => {
    observer.activity?.();
    observer.stderr?.(text);
  });
  let end: (exit: ProcessExit) => void = () => undefined;
  const certain = new Promise<ProcessExit>((resolve) => {
    end = resolve;
  });
  let isExpected = false;
  const expectExit = async () => {
    if (isExpected) return;
    isExpected = true;
    const exit = await certainEnd(process);
    if (!exit) return;
    endOutput();
    end(exit);
  };
  const exited = Promise.race([process.exited, certain]);
  void exited.then((exit) => observer.exited?.(exit));
  return { ...process, stdout, exited, expectExit };
}
