import { isStoreUnavailable } from "../lib/retry.ts";
import type { OutputStore } from "../store/contracts/shared-store.ts";
import {
  type OutputLine,
  parseMessage,
  type ReadOutputOptions,
} from "../store/files/output-reader.ts";

/** Events can get lost, so the store is also polled. */
const pollIntervalMs = 1_000;

/** Chunks of about 64 KB: a log may be larger than the memory. */
const maxChunksPerRead = 64;

/** The log of a job that runs, or ran, on another node, with the same lines and offsets. */
export async function* readShippedOutput(
  outputs: OutputStore,
  jobId: string,
  { from = 0, follow }: ReadOutputOptions,
  subscribe: (wake: () => void) => () => void,
): AsyncGenerator<OutputLine> {
  const wakeSignal = new WakeSignal();
  const unsubscribe = subscribe(() => wakeSignal.set());
  let offset = from;
  try {
    for (;;) {
      // Checked before reading: output that was shipped before the abort is then still read.
      const isLastRead = follow === undefined || follow.aborted;
      const chunks = await readChunks(outputs, jobId, offset, !isLastRead);
      for (const chunk of chunks) {
        offset = chunk.from;
        for (const text of chunk.text.split("\n").slice(0, -1)) {
          offset += Buffer.byteLength(text) + 1;
          const message = parseMessage(text);
          if (message !== undefined) yield { message, offset };
        }
      }
      if (chunks.length === maxChunksPerRead) continue;
      if (isLastRead) return;
      await wakeSignal.wait(follow);
    }
  } finally {
    unsubscribe();
  }
}

/** A reader that follows the log waits until the store is back. */
async function readChunks(
  outputs: OutputStore,
  jobId: string,
  offset: number,
  shouldWait: boolean,
) {
  try {
    return await outputs.read(jobId, offset, maxChunksPerRead);
  } catch (error) {
    if (shouldWait && isStoreUnavailable(error)) return [];
    throw error;
  }
}

class WakeSignal {
  private isSet = false;
  private wake: () => void = () => undefined;

  set(): void {
    this.isSet = true;
    this.wake();
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (!this.isSet && !signal.aborted)
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, pollIntervalMs);
        signal.addEventListener("abort", done);
        this.wake = done;
      });
    this.isSet = false;
  }
}
