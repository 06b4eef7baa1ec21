import { type FSWatcher, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";
import { LineSplitter } from "./line-splitter.ts";

export interface FileLine {
  text: string;
  /** Byte offset after its end. */
  end: number;
}

/** The lines of a file from byte `from`. With `follow`, waits for more lines, or for the file to appear. */
export async function* followLines(
  file: string,
  from: number,
  follow?: AbortSignal,
): AsyncGenerator<FileLine> {
  const changes = follow && new FileChanges(file, follow);
  let reader: FileLineReader | undefined;
  try {
    for (;;) {
      // Checked before reading, so that everything written before the abort is still read.
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

async function openReader(file: string, from: number): Promise<FileLineReader | undefined> {
  try {
    return new FileLineReader(await open(file, "r"), from);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

const chunkBytes = 256 * 1024;

class FileLineReader {
  readonly #handle: FileHandle;
  readonly #splitter: LineSplitter;

  constructor(handle: FileHandle, position: number) {
    this.#handle = handle;
    this.#splitter = new LineSplitter(position);
  }

  /** Reads to the current end of the file and keeps an incomplete line for the next call. */
  async *read(): AsyncGenerator<FileLine> {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await this.#handle.read(chunk, 0, chunkBytes, this.#splitter.offset);
      if (bytesRead === 0) return;
      for (const line of this.#splitter.push(chunk.subarray(0, bytesRead)))
        if (line.kind === "complete") yield { text: line.bytes.toString("utf8"), end: line.end };
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Change notifications can be late, merged or missing, so the file is also polled. */
class FileChanges {
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
        if (name === null || name === basename(this.#file)) this.#onChange();
      });
      this.#watcher.on("error", () => this.#unwatch());
    } catch {
      // The folder does not exist yet, or the system is out of watches: polling is enough.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #onChange(): void {
    this.#pending = true;
    this.#wake();
  }
}
