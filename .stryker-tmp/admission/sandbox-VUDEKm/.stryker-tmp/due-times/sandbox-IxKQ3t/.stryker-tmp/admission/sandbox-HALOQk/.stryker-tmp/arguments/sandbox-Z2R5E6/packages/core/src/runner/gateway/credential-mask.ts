import { Transform } from "node:stream";

/** A shorter secret could match ordinary text in a response. */
const minSecretLength = 16;

/**
 * Masks the real credential in responses, because an upstream may echo request headers. The
 * replacement has the same length, so that every content-length stays valid.
 */
export class CredentialMask {
  private readonly secret: Buffer;
  private readonly replacement: Buffer;

  constructor(secret: string | undefined) {
    const isLongEnough = secret !== undefined && secret.length >= minSecretLength;
    this.secret = Buffer.from(isLongEnough ? secret : "");
    this.replacement = Buffer.alloc(this.secret.length, "*");
  }

  maskText(value: string): string {
    if (this.secret.length === 0) return value;
    return value.replaceAll(this.secret.toString(), this.replacement.toString());
  }

  createStream(): Transform {
    let pending = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const bytes = this.bytes(pending.length === 0 ? chunk : Buffer.concat([pending, chunk]));
        const tail = this.partialMatchLength(bytes);
        pending = Buffer.from(bytes.subarray(bytes.length - tail));
        done(null, bytes.subarray(0, bytes.length - tail));
      },
      flush: (done) => done(null, pending),
    });
  }

  private bytes(chunk: Buffer): Buffer {
    if (this.secret.length === 0) return chunk;
    let found = chunk.indexOf(this.secret);
    if (found === -1) return chunk;
    const masked = Buffer.from(chunk);
    // defence: mask-echoed-key
    for (; found !== -1; found = masked.indexOf(this.secret, found))
      this.replacement.copy(masked, found);
    return masked;
  }

  /** The number of bytes at the end that may be the start of the secret. */
  private partialMatchLength(bytes: Buffer): number {
    const [first] = this.secret;
    if (first === undefined) return 0;
    const next = (from: number) => bytes.indexOf(first, from);
    const earliest = Math.max(0, bytes.length - this.secret.length + 1);
    for (let start = next(earliest); start !== -1; start = next(start + 1)) {
      const tail = bytes.subarray(start);
      if (tail.equals(this.secret.subarray(0, tail.length))) return tail.length;
    }
    return 0;
  }
}
