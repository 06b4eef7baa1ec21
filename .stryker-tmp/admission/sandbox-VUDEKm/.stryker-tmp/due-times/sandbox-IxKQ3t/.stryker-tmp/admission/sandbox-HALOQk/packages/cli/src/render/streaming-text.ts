import { sanitizeText } from "./sanitize-text.ts";
import { wrapLine } from "./text-width.ts";

/** Splits a streamed text into complete lines and a draft of the last line. */
export class StreamingText {
  /** The incomplete last line. */
  draft = "";
  private received = "";

  constructor(private readonly width: number) {}

  get hasText(): boolean {
    return this.received !== "";
  }

  append(piece: string): string[] {
    const isStart = this.received === "";
    const added = isStart ? piece.trimStart() : piece;
    this.received += added;
    const lines = (this.draft + sanitizeText(added))
      .split("\n")
      .flatMap((line) => wrapLine(line, this.width));
    this.draft = lines.pop() ?? "";
    return lines;
  }

  /** Ends the current line, because other output follows. */
  flushDraft(): string[] {
    const lines = this.draft === "" ? [] : [this.draft];
    this.draft = "";
    return lines;
  }

  /** The text will be sent again from the start. */
  reset(): string[] {
    this.received = "";
    return this.flushDraft();
  }

  /** Returns the missing rest of the complete text; undefined if another text was streamed. */
  complete(fullText: string): string[] | undefined {
    const text = fullText.trimStart();
    const isContinuation = this.received !== "" && text.startsWith(this.received.trimEnd());
    const isAlreadyShown = this.received.trimEnd().endsWith(text.trimEnd()) && this.received !== "";
    if (!isContinuation && !isAlreadyShown) return undefined;
    const missing = isContinuation ? text.trimEnd().slice(this.received.length) : "";
    return [...this.append(missing), ...this.reset()];
  }
}
