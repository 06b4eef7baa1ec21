import { Transform } from "node:stream";

/** Below this a secret is a word that could stand in any answer. */
const shortestSecret = 16;

/**
 * An upstream may echo the headers it got; the real credential does not come back down with them.
 * Stars of the same length keep every content-length true.
 */
export class Mask {
  private readonly secret: Buffer;
  private readonly stars: Buffer;

  constructor(secret: string | undefined) {
    const worthHiding = secret !== undefined && secret.length >= shortestSecret;
    this.secret = Buffer.from(worthHiding ? secret : "");
    this.stars = Buffer.alloc(this.secret.length, "*");
  }

  text(value: string): string {
    if (this.secret.length === 0) return value;
    return value.replaceAll(this.secret.toString(), this.stars.toString());
  }

  stream(): Transform {
    let held = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const bytes = this.bytes(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
        const tail = this.unfinished(bytes);
        held = Buffer.from(bytes.subarray(bytes.length - tail));
        done(null, bytes.subarray(0, bytes.length - tail));
      },
      flush: (done) => done(null, held),
    });
  }

  private bytes(chunk: Buffer): Buffer {
    if (this.secret.length === 0) return chunk;
    let found = chunk.indexOf(this.secret);
    if (found === -1) return chunk;
    const masked = Buffer.from(chunk);
    for (; found !== -1; found = masked.indexOf(this.secret, found)) this.stars.copy(masked, found);
    return masked;
  }

  /** How many bytes at the end may be the beginning of the secret. */
  private unfinished(bytes: Buffer): number {
    const [first] = this.secret;
    if (first === undefined) return 0;
    const next = (from: number) => bytes.indexOf(first, from);
    const earliest = Math.max(0, bytes.length - this.secret.length + 1);
    for (let at = next(earliest); at !== -1; at = next(at + 1)) {
      const tail = bytes.subarray(at);
      if (tail.equals(this.secret.subarray(0, tail.length))) return tail.length;
    }
    return 0;
  }
}
