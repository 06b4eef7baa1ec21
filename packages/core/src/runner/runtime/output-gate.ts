import { z } from "zod";
import { LineSplitter } from "./session-file/splitter.ts";

export interface OutputLimits {
  /** A message is never longer: the API takes no larger request. */
  maxLineBytes: number;
  /** Bytes that may wait for a reader that is behind, in whatever queue they are. */
  maxBacklogBytes: number;
}

const megabyte = 1024 * 1024;
export const outputLimits: OutputLimits = {
  maxLineBytes: 32 * megabyte,
  maxBacklogBytes: 64 * megabyte,
};

type DropReason = "line_too_long" | "reader_behind";

/** The message that takes the place of messages that were dropped. */
const droppedOutput = z.object({
  type: z.literal("system"),
  subtype: z.literal("output_dropped"),
  reason: z.enum(["line_too_long", "reader_behind"]),
  messages: z.number(),
  bytes: z.number(),
});

/** What the operator should know; undefined for any other message. */
export function droppedWarning(message: unknown): string | undefined {
  const parsed = droppedOutput.safeParse(message);
  if (!parsed.success) return undefined;
  const { reason, messages, bytes } = parsed.data;
  const size = `${Math.ceil(bytes / megabyte)} MB`;
  if (reason === "line_too_long") return `a message of ${size} was dropped: it was too long`;
  return `${messages} messages (${size}) were dropped: they came faster than the log could be written`;
}

/**
 * Bounds what a `claude` can make its reader hold. The reader must never wait, because an older
 * claude loses the output that a slow reader leaves in the pipe; so what exceeds a bound is dropped,
 * and a marker takes its place. Results and the control protocol are dropped last.
 */
export class OutputGate {
  private readonly splitter: LineSplitter;
  private backlog = 0;
  private dropped = { messages: 0, bytes: 0 };

  constructor(
    /** True once the last message that came is in the job's log. */
    private readonly isCaughtUp: () => boolean,
    private readonly limits: OutputLimits = outputLimits,
  ) {
    this.splitter = new LineSplitter(0, limits.maxLineBytes);
  }

  /** The whole lines that may pass, with their ends. */
  push(chunk: Buffer): Buffer {
    const passing: Buffer[] = [];
    for (const line of this.splitter.push(chunk)) {
      if (line.kind === "complete") this.pass(Buffer.concat([line.bytes, newline]), passing);
      else passing.push(marker("line_too_long", { messages: 1, bytes: line.end - line.start }));
    }
    return Buffer.concat(passing);
  }

  /** What is left when no more can come. */
  end(): Buffer {
    const passing: Buffer[] = [];
    const rest = this.splitter.rest();
    if (rest?.kind === "complete") this.pass(rest.bytes, passing);
    this.tellDropped(passing);
    return Buffer.concat(passing);
  }

  private pass(line: Buffer, passing: Buffer[]): void {
    if (this.isCaughtUp()) this.backlog = 0;
    const size = line.length;
    const { maxBacklogBytes: most } = this.limits;
    const bound = isEssential(line) ? 2 * most : most;
    if (this.backlog + size > bound) {
      this.dropped.messages += 1;
      this.dropped.bytes += size;
      return;
    }
    this.tellDropped(passing);
    this.backlog += size;
    passing.push(line);
  }

  private tellDropped(passing: Buffer[]): void {
    if (this.dropped.messages === 0) return;
    passing.push(marker("reader_behind", this.dropped));
    this.dropped = { messages: 0, bytes: 0 };
  }
}

const newline = Buffer.from("\n");

function marker(reason: DropReason, dropped: { messages: number; bytes: number }): Buffer {
  const message = { type: "system", subtype: "output_dropped", reason, ...dropped };
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

const essential = /^\{"type":"(result|control_\w+)"/;

function isEssential(line: Buffer): boolean {
  return essential.test(line.toString("latin1", 0, 64));
}
