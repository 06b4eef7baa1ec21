import { PassThrough } from "node:stream";
import { raceTimeout } from "@herdctl/protocol";
import { z } from "zod";
import { LineSplitter } from "../../lib/line-splitter.ts";
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

interface OutputLimits {
  /** Legitimate messages are never longer, because the API does not accept larger requests. */
  maxLineBytes: number;
  /** Bytes that may be queued for a reader that is behind, over all queues. */
  maxBacklogBytes: number;
}

const bytesPerMegabyte = 1024 * 1024;
export const outputLimits: OutputLimits = {
  maxLineBytes: 32 * bytesPerMegabyte,
  maxBacklogBytes: 64 * bytesPerMegabyte,
};

type DropReason = "line_too_long" | "reader_behind";

/** The message that replaces dropped messages. */
const droppedOutputSchema = z.object({
  type: z.literal("system"),
  subtype: z.literal("output_dropped"),
  reason: z.enum(["line_too_long", "reader_behind"]),
  messages: z.number(),
  bytes: z.number(),
});

/** A warning for the operator; undefined for any other message. */
export function formatDroppedWarning(message: unknown): string | undefined {
  const parsed = droppedOutputSchema.safeParse(message);
  if (!parsed.success) return undefined;
  const { reason, messages, bytes } = parsed.data;
  const size = `${Math.ceil(bytes / bytesPerMegabyte)} MB`;
  if (reason === "line_too_long") return `a message of ${size} was dropped: it was too long`;
  return `${messages} messages (${size}) were dropped: they arrived faster than the log could be written`;
}

/**
 * Limits the memory for output of `claude`. The reader must never wait, because an older claude loses
 * output that a slow reader leaves in the pipe; so messages above a limit are replaced by a marker.
 * Results and control messages are dropped last.
 */
export class OutputGate {
  private readonly splitter: LineSplitter;
  private backlogBytes = 0;
  private dropped = { messages: 0, bytes: 0 };

  constructor(
    /** True when the latest message is in the job's log. */
    private readonly isCaughtUp: () => boolean,
    private readonly limits: OutputLimits = outputLimits,
  ) {
    this.splitter = new LineSplitter(0, limits.maxLineBytes);
  }

  /** The whole lines to forward, with their line ends. */
  push(chunk: Buffer): Buffer {
    const output: Buffer[] = [];
    for (const line of this.splitter.push(chunk)) {
      if (line.kind === "complete") this.pass(Buffer.concat([line.bytes, newline]), output);
      else
        output.push(droppedMarker("line_too_long", { messages: 1, bytes: line.end - line.start }));
    }
    return Buffer.concat(output);
  }

  /** The remaining output at the end of the stream. */
  end(): Buffer {
    const output: Buffer[] = [];
    const rest = this.splitter.rest();
    if (rest?.kind === "complete") this.pass(rest.bytes, output);
    this.flushDroppedMarker(output);
    return Buffer.concat(output);
  }

  private pass(line: Buffer, output: Buffer[]): void {
    if (this.isCaughtUp()) this.backlogBytes = 0;
    const size = line.length;
    const { maxBacklogBytes } = this.limits;
    const limitBytes = isEssential(line) ? 2 * maxBacklogBytes : maxBacklogBytes;
    // defence: log-backlog-limit
    if (this.backlogBytes + size > limitBytes) {
      this.dropped.messages += 1;
      this.dropped.bytes += size;
      return;
    }
    this.flushDroppedMarker(output);
    this.backlogBytes += size;
    output.push(line);
  }

  private flushDroppedMarker(output: Buffer[]): void {
    if (this.dropped.messages === 0) return;
    output.push(droppedMarker("reader_behind", this.dropped));
    this.dropped = { messages: 0, bytes: 0 };
  }
}

const newline = Buffer.from("\n");

function droppedMarker(reason: DropReason, dropped: { messages: number; bytes: number }): Buffer {
  const message = { type: "system", subtype: "output_dropped", reason, ...dropped };
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

const essentialPattern = /^\{"type":"(result|control_\w+)"/;

function isEssential(line: Buffer): boolean {
  return essentialPattern.test(line.toString("latin1", 0, 64));
}
