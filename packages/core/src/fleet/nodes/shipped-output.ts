import { UserError } from "../../errors/user-error.ts";
import { type OutputLine, parseMessage, type ReadOptions } from "../../state/output-reader.ts";
import type { OutputStore } from "../../state/shared.ts";

/** News can get lost: the store is looked at by the clock as well. */
const lookEvery = 1_000;

/** Pieces, of some 64 KB mostly: a log may be larger than the memory. */
const atOnce = 64;

/** The log of a job that runs, or ran, on another node: the same lines at the same places. */
export async function* readShipped(
  outputs: OutputStore,
  jobId: string,
  { from = 0, follow }: ReadOptions,
  onMore: (wake: () => void) => () => void,
): AsyncGenerator<OutputLine> {
  const more = new Wake();
  const forget = onMore(() => more.ring());
  let at = from;
  try {
    for (;;) {
      // Asked before reading: what was shipped before the abort is then read after it.
      const isLastLook = follow === undefined || follow.aborted;
      const pieces = await read(outputs, jobId, at, !isLastLook);
      for (const piece of pieces) {
        at = piece.from;
        for (const text of piece.text.split("\n").slice(0, -1)) {
          at += Buffer.byteLength(text) + 1;
          const message = parseMessage(text);
          if (message !== undefined) yield { message, offset: at };
        }
      }
      if (pieces.length === atOnce) continue;
      if (isLastLook) return;
      await more.next(follow);
    }
  } finally {
    forget();
  }
}

/** Whoever follows has time until the store is back. */
async function read(outputs: OutputStore, jobId: string, at: number, waits: boolean) {
  try {
    return await outputs.read(jobId, at, atOnce);
  } catch (error) {
    const isAway = error instanceof UserError && error.code === "state_unavailable";
    if (isAway && waits) return [];
    throw error;
  }
}

class Wake {
  private rung = false;
  private wake: () => void = () => undefined;

  ring(): void {
    this.rung = true;
    this.wake();
  }

  async next(signal: AbortSignal): Promise<void> {
    if (!this.rung && !signal.aborted)
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, lookEvery);
        signal.addEventListener("abort", done);
        this.wake = done;
      });
    this.rung = false;
  }
}
