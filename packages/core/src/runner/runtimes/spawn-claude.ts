import { PassThrough, type Readable, type Writable } from "node:stream";
import { raceTimeout } from "@herdctl/protocol";
import { execa } from "execa";
import { z } from "zod";
import type { ContainerObservation } from "../../docker/container-manager.ts";
import { LineSplitter } from "../../lib/line-splitter.ts";

export interface SpawnCommand {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** A running `claude`, on the host or in a container. */
export interface ClaudeProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects: if the program could not be started, it resolves with `failure`. */
  readonly exited: Promise<ProcessExit>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The system error code if the program could not be started, such as `ENOENT`. */
  failure?: string;
}

export type SpawnClaude = (command: SpawnCommand) => ClaudeProcess;

export const spawnOnHost: SpawnClaude = ({ file, args, cwd, env }) => {
  const child = execa(file, args, { cwd, env, ...spawnOptions, stdio: ["pipe", "pipe", "pipe"] });
  // If the program exits before it has read all input, that is not our error.
  child.stdin.on("error", () => undefined);
  const exited = child.then(({ exitCode, signal, code }: ExecaResult) => ({
    code: exitCode ?? null,
    signal: signal ?? null,
    ...(exitCode === undefined && signal === undefined && { failure: code ?? "UNKNOWN" }),
  }));
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: Promise.resolve(exited),
    kill: (signal) => void child.kill(signal),
  };
};

/**
 * `detached` starts a separate process group, so that Ctrl-C in a terminal only reaches herdctl, which
 * decides how to stop the agent.
 */
const spawnOptions = {
  extendEnv: false,
  buffer: false,
  reject: false,
  detached: true,
} as const;

interface ExecaResult {
  exitCode?: number;
  signal?: string;
  code?: string;
}

/** Callbacks for events of a run other than its messages; evidence for its outcome. */
export interface RuntimeObserver {
  onSpawned?(pid: number | undefined): void;
  /** The program wrote output, possibly only part of a message. */
  onActivity?(): void;
  /** Whether every message so far has been logged. Output is dropped if the reader is too far behind. */
  isCaughtUp?(): boolean;
  onStderr?(text: string): void;
  /** A bridged server was started; its process belongs to the run. */
  onServerSpawned?(pid: number): void;
  /** A log message about a bridged server; not evidence of how the run ended. */
  onServerNote?(text: string): void;
  onExited?(exit: ProcessExit): void;
  /** The turn is over, and `claude` keeps running for the next turn of its session. */
  onIdle?(): void;
  /** Facts about the container, if there is one; called again when it ends. */
  onContainer?(facts: ContainerObservation): void;
  /** A warning for the operator; the run continues. */
  onWarning?(text: string): void;
}

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
