const longestLine = 64 * 1024 * 1024;

/** Lines out of the pieces in which they arrive. */
export class LineReader {
  private readonly pieces: Buffer[] = [];
  private held = 0;

  /** More came without an end than anybody of ours would send. */
  get isOverfull(): boolean {
    return this.held > longestLine;
  }

  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.pieces, chunk.subarray(start, end)]);
      this.pieces.length = 0;
      this.held = 0;
      start = end + 1;
      yield line.toString("utf8");
    }
    if (start === chunk.length) return;
    this.pieces.push(chunk.subarray(start));
    this.held += chunk.length - start;
  }
}
