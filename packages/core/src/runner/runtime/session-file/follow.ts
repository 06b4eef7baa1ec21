import { FileCursor, type PlacedLine, type ReadOptions } from "./cursor.ts";
import { sessionFilePath } from "./path.ts";
import { Wake } from "./wake.ts";
import { watchFile } from "./watch.ts";

export interface FollowOptions extends ReadOptions {
  of: { file: string } | { configDir: string; cwd: string; sessionId: string };
  /** Ends the following at once. */
  signal: AbortSignal;
  /** Settles when nothing more will be written: one last read follows, then the end. */
  until?: Promise<unknown>;
}

/** How long a change may stay unseen when every watcher fails. */
const regularLook = 500;

/** The lines of a session file as they are written, each whole line once and in order. */
export async function* followSessionFile(options: FollowOptions): AsyncGenerator<PlacedLine> {
  const { of, signal, until } = options;
  const file = "file" in of ? of.file : sessionFilePath(of.configDir, of.cwd, of.sessionId);
  const cursor = new FileCursor(file, options);
  const wake = new Wake(regularLook);
  const closing = new AbortController();
  const watching = watchFile(file, () => wake.soon(), closing.signal).catch(() => undefined);
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
      // Taken before the read: what was written before the end is then surely seen.
      const last = ended;
      yield* cursor.read();
      if (last) return yield* cursor.finish();
      await wake.next();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    closing.abort();
    wake.stop();
    await watching;
  }
}

/** The lines that a session file holds now. */
export async function* readSessionFile(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<PlacedLine> {
  const cursor = new FileCursor(file, options);
  yield* cursor.read();
  yield* cursor.finish();
}
