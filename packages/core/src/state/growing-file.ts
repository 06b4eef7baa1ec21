import { type FSWatcher, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";

export interface Line {
  text: string;
  /** Byte offset after its end. */
  end: number;
}

/** The lines of a file that has an end, or, followed, of one that grows or is yet to come. */
export async function* completeLines(
  file: string,
  from: number,
  follow?: AbortSignal,
): AsyncGenerator<Line> {
  const changes = follow && new Changes(file, follow);
  let reader: LineReader | undefined;
  try {
    for (;;) {
      // Asked before reading: what was written before the abort is then read after it.
      const isLastPass = follow === undefined || follow.aborted;
      reader ??= await openReader(file, from);
      if (reader) yield* reader.read();
      if (isLastPass) return;
      await changes?.next();
    }
  } finally {
    changes?.close();
    await reader?.close();
  }
}

async function openReader(file: string, from: number): Promise<LineReader | undefined> {
  try {
    return new LineReader(await open(file, "r"), from);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const chunkLength = 256 * 1024;

class LineReader {
  readonly #handle: FileHandle;
  #position: number;
  #unfinished: Buffer[] = [];

  constructor(handle: FileHandle, position: number) {
    this.#handle = handle;
    this.#position = position;
  }

  /** Up to the present end of the file; half a line is kept for the next time. */
  async *read(): AsyncGenerator<Line> {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkLength);
      const { bytesRead } = await this.#handle.read(chunk, 0, chunkLength, this.#position);
      if (bytesRead === 0) return;
      const base = this.#position;
      this.#position += bytesRead;
      yield* this.#split(chunk.subarray(0, bytesRead), base);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  *#split(chunk: Buffer, base: number): Generator<Line> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const parts = [...this.#unfinished, chunk.subarray(start, end)];
      this.#unfinished = [];
      start = end + 1;
      yield { text: joined(parts), end: base + start };
    }
    if (start < chunk.length) this.#unfinished.push(chunk.subarray(start));
  }
}

function joined([first, ...rest]: Buffer[]): string {
  if (first === undefined) return "";
  return (rest.length === 0 ? first : Buffer.concat([first, ...rest])).toString("utf8");
}

/** Reports of changes can be late, merged or missing, so the file is looked at by the clock as well. */
class Changes {
  readonly #file: string;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #pending = false;
  #wake = () => {};

  constructor(file: string, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
    this.#watch();
  }

  async next(): Promise<void> {
    this.#watch();
    if (!this.#pending && !this.#signal.aborted) await this.#sleep(this.#watcher ? 1000 : 100);
    this.#pending = false;
  }

  close(): void {
    this.#watcher?.close();
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#signal.removeEventListener("abort", done);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#signal.addEventListener("abort", done);
      this.#wake = done;
    });
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      this.#watcher = watch(dirname(this.#file), (_event, name) => {
        if (name === null || name === basename(this.#file)) this.#notice();
      });
      this.#watcher.on("error", () => this.#unwatch());
    } catch {
      // The folder is not there yet, or the system has no watch left: the clock will do.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #notice(): void {
    this.#pending = true;
    this.#wake();
  }
}
