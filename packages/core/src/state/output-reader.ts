import { completeLines } from "./growing-file.ts";

export interface OutputLine {
  message: Record<string, unknown>;
  /** Where the next line begins: read `from` here to go on after this message. */
  offset: number;
}

export interface ReadOptions {
  from?: number;
  /** Goes on as the file grows until aborted, then gives what is there and ends. */
  follow?: AbortSignal;
}

export function readOutput(file: string, options: ReadOptions = {}): OutputReader {
  return new OutputReader(file, options);
}

/** The messages of a job's log. A last line without its end is not there yet. */
export class OutputReader implements AsyncIterable<OutputLine> {
  /** Lines that were no message: torn by a crash, or filled with NUL by a power cut. */
  skipped = 0;
  readonly #file: string;
  readonly #options: ReadOptions;

  constructor(file: string, options: ReadOptions) {
    this.#file = file;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputLine> {
    const { from = 0, follow } = this.#options;
    for await (const { text, end } of completeLines(this.#file, from, follow)) {
      if (text === "") continue;
      const message = parseMessage(text);
      if (message === undefined) this.skipped += 1;
      else yield { message, offset: end };
    }
  }
}

/** Undefined for what is no message. */
export function parseMessage(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
