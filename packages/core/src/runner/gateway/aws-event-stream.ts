import { crc32 } from "node:zlib";

/** One message of the `application/vnd.amazon.eventstream` format. */
export interface AwsFrame {
  /** Only text headers; Bedrock sends no others. */
  headers: ReadonlyMap<string, string>;
  payload: Buffer;
}

const preludeBytes = 12;
const checksumBytes = 4;
const maxFrameBytes = 24 * 1024 * 1024;
const textHeaderType = 7;

/**
 * Splits a byte stream into frames. It only observes the stream, so after a damaged frame it stops
 * reading instead of failing.
 */
export class AwsFrameDecoder {
  private pending: Buffer = Buffer.alloc(0);
  private isDamaged = false;

  *read(chunk: Buffer): Generator<AwsFrame> {
    if (this.isDamaged) return;
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    while (this.pending.length >= preludeBytes) {
      const length = this.pending.readUInt32BE(0);
      const headerBytes = this.pending.readUInt32BE(4);
      const isValid =
        length <= maxFrameBytes &&
        length >= preludeBytes + headerBytes + checksumBytes &&
        crc32(this.pending.subarray(0, 8)) === this.pending.readUInt32BE(8);
      if (!isValid) {
        this.isDamaged = true;
        this.pending = Buffer.alloc(0);
        return;
      }
      if (this.pending.length < length) return;
      const frame = this.pending.subarray(0, length);
      this.pending = this.pending.subarray(length);
      const headersEnd = preludeBytes + headerBytes;
      yield {
        headers: readHeaders(frame.subarray(preludeBytes, headersEnd)),
        payload: frame.subarray(headersEnd, length - checksumBytes),
      };
    }
  }
}

/** The event of a chunk frame: JSON in base64 in JSON. */
export function awsEventData(payload: Buffer): string {
  const encoded = /"bytes"\s*:\s*"(?<data>[A-Za-z0-9+/=]*)"/.exec(payload.toString("latin1"));
  return Buffer.from(encoded?.groups?.data ?? "", "base64").toString("utf8");
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameLength = bytes.readUInt8(at);
    const nameEnd = at + 1 + nameLength;
    if (nameEnd + 3 > bytes.length || bytes.readUInt8(nameEnd) !== textHeaderType) return headers;
    const valueStart = nameEnd + 3;
    const valueEnd = valueStart + bytes.readUInt16BE(nameEnd + 1);
    const name = bytes.toString("utf8", at + 1, nameEnd);
    headers.set(name, bytes.toString("utf8", valueStart, Math.min(valueEnd, bytes.length)));
    at = valueEnd;
  }
  return headers;
}
