export type RawLine = { start: number; end: number } & (
  | { kind: "complete"; bytes: Buffer }
  | { kind: "too_long" }
);

/**
 * Bytes in, whole lines out. Lines are cut as bytes and decoded whole, so a character split
 * between two reads cannot be damaged, and a line beyond the limit is let go, not held.
 */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private held = 0;
  private dropping = false;
  private start: number;
  private position: number;

  constructor(
    offset: number,
    private readonly longest: number,
  ) {
    this.start = offset;
    this.position = offset;
  }

  /** The offset of the next byte to come. */
  get offset(): number {
    return this.position;
  }

  *push(chunk: Buffer): Generator<RawLine> {
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(10, from);
      if (newline === -1) break;
      this.hold(chunk.subarray(from, newline));
      this.position += 1;
      yield this.cut();
      from = newline + 1;
    }
    this.hold(chunk.subarray(from));
  }

  /** What stands after the last newline, once no more can come. */
  rest(): RawLine | undefined {
    if (this.position === this.start) return undefined;
    return this.cut();
  }

  private hold(piece: Buffer): void {
    this.position += piece.length;
    if (piece.length === 0 || this.dropping) return;
    this.held += piece.length;
    if (this.held > this.longest) {
      this.dropping = true;
      this.pieces = [];
      return;
    }
    this.pieces.push(piece);
  }

  private cut(): RawLine {
    const place = { start: this.start, end: this.position };
    const line: RawLine = this.dropping
      ? { kind: "too_long", ...place }
      : { kind: "complete", bytes: Buffer.concat(this.pieces), ...place };
    this.pieces = [];
    this.held = 0;
    this.dropping = false;
    this.start = this.position;
    return line;
  }
}
