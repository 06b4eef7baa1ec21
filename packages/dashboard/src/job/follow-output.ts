import { addressOf } from "../api/ask.ts";
import { FleetError } from "../api/fleet-error.ts";
import { LineSplitter, type OutputLine } from "./lines.ts";

export interface Follower {
  /** Where to read on. */
  from(): number;
  take(lines: OutputLine[]): void;
  /** Whether more may come. */
  reading(state: "reading" | "away"): void;
  signal: AbortSignal;
}

const tryAgainAfter = 1_000;
/** So long the browser may be kept from drawing. */
const slice = 10;

/**
 * Reads the output of a job as its bytes arrive, until the job has ended. A stream that breaks off
 * says that the fleet went away: it is opened again where it ended.
 */
export async function followOutput(jobId: string, follower: Follower): Promise<void> {
  const { signal, reading } = follower;
  while (!signal.aborted) {
    try {
      reading("reading");
      await readOnce(jobId, follower);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FleetError && error.status >= 400 && error.status < 500) throw error;
      reading("away");
      await pause(tryAgainAfter);
    }
  }
}

async function readOnce(jobId: string, { from, take, signal }: Follower): Promise<void> {
  const query = { from: from(), follow: "true" as const };
  const body = await openOutput(jobId, query, signal);
  const splitter = new LineSplitter();
  let since = performance.now();
  for (;;) {
    const { done, value } = await body.read();
    if (done) return;
    take(splitter.push(value));
    if (performance.now() - since < slice) continue;
    await pause(0);
    since = performance.now();
  }
}

/** So many messages from one place on, and no more. */
export async function readSome(
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
  const response = await fetch(addressOf("output", { params: { id }, query }), { signal });
  if (!response.ok || !response.body) throw FleetError.told(response.status, []);
  return response.body.getReader();
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
