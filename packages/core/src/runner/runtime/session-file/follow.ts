import type { ReadOptions } from "./cursor.ts";
import { type SessionFileLine, SessionReader } from "./session-reader.ts";
import { subagentsFolder } from "./subagents.ts";
import { Wake } from "./wake.ts";
import { watchPath } from "./watch.ts";

export interface FollowOptions extends ReadOptions {
  file: string;
  /** Ends the following at once. */
  signal: AbortSignal;
  /** Settles when nothing more will be written: one last read follows, then the end. */
  until?: Promise<unknown>;
}

/** How long a change may stay unseen when every watcher fails. */
const regularLook = 500;

/** The lines of a session as they are written, each whole line once and in its file's order. */
export async function* followSessionFile(options: FollowOptions): AsyncGenerator<SessionFileLine> {
  const { file, signal, until } = options;
  const reader = new SessionReader(file, options);
  const wake = new Wake(regularLook);
  const stopWatching = watchPaths([file, subagentsFolder(file)], () => wake.soon());
  const onAbort = () => wake.now();
  signal.addEventListener("abort", onAbort);
  let ended = false;
  const end = () => {
    ended = true;
    wake.now();
  };
  until?.then(end, end);
  try {
    while (!signal.aborted) {
      // What was written before the end is surely seen by a read that begins after it.
      if (ended) return yield* reader.finish();
      yield* reader.read();
      await wake.next();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    wake.stop();
    await stopWatching();
  }
}

function watchPaths(paths: string[], onChange: () => void): () => Promise<void> {
  const closing = new AbortController();
  const watching = paths.map((path) => watchPath(path, onChange, closing.signal));
  return async () => {
    closing.abort();
    await Promise.allSettled(watching);
  };
}

/** The lines that a session's files hold now. */
export async function* readSessionFile(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<SessionFileLine> {
  yield* new SessionReader(file, options).finish();
}
