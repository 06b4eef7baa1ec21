import { applyOutputLine } from "./apply-output-line.ts";
import { followOutput } from "./follow-output.ts";
import { Transcript } from "./transcript.ts";

export type ReadingState = "reading" | "away" | "ended" | "failed";

/** An external store for React that follows a job's transcript and notifies at most once per frame. */
export class TranscriptStore {
  readonly transcript = new Transcript();
  error: unknown;
  readingState: ReadingState = "reading";
  private version = 0;
  private readonly listeners = new Set<() => void>();
  private animationFrame: number | undefined;

  constructor(private readonly jobId: string) {}

  /** Follows the output until the returned function is called. A restart continues at the last offset. */
  start(): () => void {
    const stopController = new AbortController();
    const { signal } = stopController;
    const setState = (readingState: ReadingState, error?: unknown) => {
      if (signal.aborted) return;
      this.readingState = readingState;
      this.error = error;
      this.scheduleUpdate();
    };
    followOutput(this.jobId, {
      signal,
      nextOffset: () => this.transcript.offset,
      onLines: (lines) => {
        for (const line of lines) applyOutputLine(this.transcript, line);
        if (lines.length > 0) this.scheduleUpdate();
      },
      onState: (state) => setState(state),
    }).then(
      () => setState("ended"),
      (error: unknown) => setState("failed", error),
    );
    return () => stopController.abort();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.version;

  private scheduleUpdate(): void {
    this.animationFrame ??= requestAnimationFrame(() => {
      this.animationFrame = undefined;
      this.version += 1;
      for (const listener of this.listeners) listener();
    });
  }
}
