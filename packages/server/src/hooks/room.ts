/** How much may be held in memory at once of what is still being received. */
export class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** False, and nothing taken, when there is not so much left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}
