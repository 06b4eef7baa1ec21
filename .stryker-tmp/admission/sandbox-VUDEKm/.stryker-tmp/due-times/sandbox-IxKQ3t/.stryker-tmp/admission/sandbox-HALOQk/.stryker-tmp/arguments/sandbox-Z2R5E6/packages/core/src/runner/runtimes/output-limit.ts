import { z } from "zod";
import { LineSplitter } from "../../lib/line-splitter.ts";

export interface OutputLimits {
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
