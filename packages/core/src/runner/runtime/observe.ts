import { PassThrough } from "node:stream";
import type { RuntimeObserver } from "./interface.ts";
import type { ClaudeProcess } from "./spawn.ts";

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
  process.stdout.on("data", (chunk: Buffer) => {
    observer.activity?.();
    stdout.write(chunk);
  });
  // A pipe that breaks has ended; what is missing shows in the evidence.
  for (const event of ["end", "close", "error"]) process.stdout.once(event, () => stdout.end());
  process.stderr.setEncoding("utf8");
  process.stderr.on("error", () => undefined);
  process.stderr.on("data", (text: string) => {
    observer.activity?.();
    observer.stderr?.(text);
  });
  void process.exited.then((exit) => observer.exited?.(exit));
  return { ...process, stdout };
}
