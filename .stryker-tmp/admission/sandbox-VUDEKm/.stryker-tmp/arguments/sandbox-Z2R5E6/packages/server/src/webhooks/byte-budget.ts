/** Limits the memory used by all request bodies that are being received. */
export class ByteBudget {
  #remainingBytes: number;

  constructor(bytes: number) {
    this.#remainingBytes = bytes;
  }

  /** False if fewer bytes remain; nothing is reserved then. */
  tryReserve(bytes: number): boolean {
    if (bytes > this.#remainingBytes) return false;
    this.#remainingBytes -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#remainingBytes += bytes;
  }
}
