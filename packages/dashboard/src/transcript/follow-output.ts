import { urlOf } from "../api/call-fleet.ts";
import { FleetError } from "../api/fleet-error.ts";
import { LineSplitter, type OutputLine } from "./line-splitter.ts";

export interface OutputFollower {
  /** The offset to continue reading from. */
  nextOffset(): number;
  onLines(lines: OutputLine[]): void;
  /** `away`: disconnected and retrying. */
  onState(state: "reading" | "away"): void;
  signal: AbortSignal;
}

const retryDelayMs = 1_000;
/** The longest time to process lines before the browser may paint. */
const maxSliceMs = 10;

/**
 * Streams the output of a job until the job has ended. If the connection drops, it reconnects and
 * continues at the last offset.
 */
export async function followOutput(jobId: string, options: OutputFollower): Promise<void> {
  const { signal, onState } = options;
  while (!signal.aborted) {
    try {
      onState("reading");
      await readUntilEnd(jobId, options);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FleetError && error.status >= 400 && error.status < 500) throw error;
      onState("away");
      await sleep(retryDelayMs);
    }
  }
}

async function readUntilEnd(
  jobId: string,
  { nextOffset, onLines, signal }: OutputFollower,
): Promise<void> {
  const query = { from: nextOffset(), follow: "true" as const };
  const body = await openOutput(jobId, query, signal);
  const splitter = new LineSplitter();
  let sliceStartedAt = performance.now();
  for (;;) {
    const { done, value } = await body.read();
    if (done) return;
    onLines(splitter.push(value));
    if (performance.now() - sliceStartedAt < maxSliceMs) continue;
    await sleep(0);
    sliceStartedAt = performance.now();
  }
}

/** Reads a number of messages, starting at an offset. */
export async function readLines(
  jobId: string,
  from: number,
  count: number,
  signal: AbortSignal,
): Promise<OutputLine[]> {
  const body = await openOutput(jobId, { from }, signal);
  const splitter = new LineSplitter();
  const lines: OutputLine[] = [];
  while (lines.length < count) {
    const { done, value } = await body.read();
    if (done) break;
    lines.push(...splitter.push(value));
  }
  await body.cancel();
  return lines.slice(0, count);
}

async function openOutput(
  id: string,
  query: { from: number; follow?: "true" },
  signal: AbortSignal,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await fetch(urlOf("output", { params: { id }, query }), { signal });
  if (!response.ok || !response.body) throw FleetError.fromResponse(response.status, []);
  return response.body.getReader();
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
