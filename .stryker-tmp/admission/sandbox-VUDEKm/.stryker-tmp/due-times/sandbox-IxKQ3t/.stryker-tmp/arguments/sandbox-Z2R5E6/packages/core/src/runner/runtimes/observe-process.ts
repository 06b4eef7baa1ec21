import { PassThrough } from "node:stream";
import { OutputGate } from "./output-limit.ts";
import type { RuntimeObserver } from "./runtime-interface.ts";
import type { ClaudeProcess } from "./spawn-claude.ts";

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
