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
    for (let length = Math.min(this.secret.length - 1, bytes.length); length > 0; length -= 1) {
      if (bytes.subarray(-length).equals(this.secret.subarray(0, length))) return length;
    }
    return 0;
  }
}
