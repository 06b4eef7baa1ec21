export type RawLine = { start: number; end: number } & (
  | { kind: "complete"; bytes: Buffer }
  | { kind: "too_long" }
);

/**
 * Splits chunks of bytes into lines with offsets. Lines are decoded as a whole, so that characters
 * split between two reads stay intact. Lines above the limit are dropped instead of buffered.
 */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private heldBytes = 0;
  private isDropping = false;
  private start: number;
  private position: number;

  constructor(
    offset = 0,
    private readonly maxLineBytes = Number.POSITIVE_INFINITY,
  ) {
    this.start = offset;
    this.position = offset;
  }

  /** The offset of the next byte. */
  get offset(): number {
    return this.position;
  }

  /** The unfinished line is longer than the limit. */
  get isOverLimit(): boolean {
    return this.isDropping;
  }

  /** The text of the lines within the limit. */
  *pushText(chunk: Buffer): Generator<string> {
    for (const line of this.push(chunk))
      if (line.kind === "complete") yield line.bytes.toString("utf8");
  }

  *push(chunk: Buffer): Generator<RawLine> {
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(10, from);
      if (newline === -1) break;
      this.append(chunk.subarray(from, newline));
      this.position += 1;
      yield this.takeLine();
      from = newline + 1;
    }
    this.append(chunk.subarray(from));
  }

  /** The text after the last newline; call at the end of the input. */
  rest(): RawLine | undefined {
    if (this.position === this.start) return undefined;
    return this.takeLine();
  }

  private append(piece: Buffer): void {
    this.position += piece.length;
    if (piece.length === 0 || this.isDropping) return;
    this.heldBytes += piece.length;
    if (this.heldBytes > this.maxLineBytes) {
      this.isDropping = true;
      this.pieces = [];
      return;
    }
    this.pieces.push(piece);
  }

  private takeLine(): RawLine {
    const offsets = { start: this.start, end: this.position };
    const line: RawLine = this.isDropping
      ? { kind: "too_long", ...offsets }
      : { kind: "complete", bytes: Buffer.concat(this.pieces), ...offsets };
    this.pieces = [];
    this.heldBytes = 0;
    this.isDropping = false;
    this.start = this.position;
    return line;
  }
}
