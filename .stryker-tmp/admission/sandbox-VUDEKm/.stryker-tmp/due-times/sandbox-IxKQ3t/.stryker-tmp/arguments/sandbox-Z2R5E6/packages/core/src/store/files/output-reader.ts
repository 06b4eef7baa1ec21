import { followLines } from "../../lib/follow-lines.ts";

export interface OutputLine {
  message: Record<string, unknown>;
  /** Offset of the next line: read `from` here to continue after this message. */
  offset: number;
}

export interface ReadOutputOptions {
  from?: number;
  /** Follows the growing file until aborted, then reads the rest and ends. */
  follow?: AbortSignal;
}

export function readOutput(file: string, options: ReadOutputOptions = {}): OutputReader {
  return new OutputReader(file, options);
}

/** The messages of a job's log. An incomplete last line is not read yet. */
export class OutputReader implements AsyncIterable<OutputLine> {
  /** Number of lines that were no messages, after a crash or a power cut. */
  skippedLines = 0;
  readonly #file: string;
  readonly #options: ReadOutputOptions;

  constructor(file: string, options: ReadOutputOptions) {
    this.#file = file;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputLine> {
    const { from = 0, follow } = this.#options;
    for await (const { text, end } of followLines(this.#file, from, follow)) {
      if (text === "") continue;
      const message = parseMessage(text);
      if (message === undefined) this.skippedLines += 1;
      else yield { message, offset: end };
    }
  }
}

/** Undefined if the text is not a message. */
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
