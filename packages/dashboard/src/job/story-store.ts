import { followOutput } from "./follow-output.ts";
import { Story } from "./story.ts";
import { tell } from "./tell.ts";

export type Reading = "reading" | "away" | "ended" | "failed";

/** A story that grows, for whoever draws it: told of changes once a frame at most. */
export class StoryStore {
  readonly story = new Story();
  error: unknown;
  reading: Reading = "reading";
  private version = 0;
  private readonly listeners = new Set<() => void>();
  private frame: number | undefined;

  constructor(private readonly jobId: string) {}

  /** Until it is stopped; started again it reads on where it was. */
  start(): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    const end = (reading: Reading, error?: unknown) => {
      if (signal.aborted) return;
      this.reading = reading;
      this.error = error;
      this.changed();
    };
    followOutput(this.jobId, {
      signal,
      from: () => this.story.offset,
      take: (lines) => {
        for (const line of lines) tell(this.story, line);
        if (lines.length > 0) this.changed();
      },
      reading: (state) => end(state),
    }).then(
      () => end("ended"),
      (error: unknown) => end("failed", error),
    );
    return () => stop.abort();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.version;

  private changed(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.version += 1;
      for (const listener of this.listeners) listener();
    });
  }
}
