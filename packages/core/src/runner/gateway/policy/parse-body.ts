import type { IncomingMessage } from "node:http";

/** A parsed body, and bytes that contain exactly the parsed values. */
type ParsedBody =
  | { kind: "parsed"; body: Record<string, unknown>; bytes: Buffer }
  | { kind: "malformed"; reason: string };

const maxDepth = 200;
const maxValues = 2_000_000;

/**
 * Parses a body and serializes it again for forwarding. If parsers could read the text differently,
 * for example because of a duplicate key, the API only sees our reading.
 */
export function parseBody(bytes: Buffer): ParsedBody {
  // defence: bracket-limit
  if (exceedsLimits(bytes)) return malformed("is nested too deep or has too many values");
  const text = decode(bytes);
  if (text === undefined) return malformed("is not in UTF-8");
  const body = parse(text);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return malformed("is not a JSON object");
  }
  const reserialized = JSON.stringify(body);
  return {
    kind: "parsed",
    body: { ...body },
    bytes:
      /* defence: forward-parsed-body */ reserialized === text ? bytes : Buffer.from(reserialized),
  };
}

function malformed(problem: string): ParsedBody {
  return { kind: "malformed", reason: `the body ${problem}` };
}

/** Checked before parsing, because a few megabytes of brackets would use gigabytes of memory. */
function exceedsLimits(bytes: Buffer): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    else if (byte === comma) values += 1;
    if (depth > maxDepth || values > maxValues) return true;
  }
  return false;
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === quote) return at;
    if (bytes[at] === backslash) at += 1;
  }
  return bytes.length;
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The API accepts up to 32 MB. */
const maxBodyBytes = 64 * 1024 * 1024;
const maxTotalBytes = 2 * maxBodyBytes;
/** A refused body is read up to this size, because a response before its end could get lost. */
const maxDrainBytes = 4 * maxBodyBytes;

type BodyReadResult =
  | { kind: "read"; bytes: Buffer }
  | { kind: "refused"; status: 413 | 529; reason: string }
  | { kind: "gone" };

/** Buffers whole bodies for checking. All requests of a gateway share one memory limit. */
export class BodyReader {
  private totalBufferedBytes = 0;

  async read(request: IncomingMessage): Promise<BodyReadResult> {
    const chunks: Buffer[] = [];
    let [receivedBytes, bufferedBytes] = [0, 0];
    let refusal: BodyReadResult | undefined;
    const releaseBuffer = () => {
      this.totalBufferedBytes -= bufferedBytes;
      bufferedBytes = 0;
      chunks.length = 0;
    };
    try {
      for await (const chunk of request) {
        receivedBytes += chunk.length;
        if (receivedBytes > maxDrainBytes) request.destroy();
        if (refusal) continue;
        bufferedBytes += chunk.length;
        this.totalBufferedBytes += chunk.length;
        chunks.push(chunk);
        if (bufferedBytes > maxBodyBytes) refusal = bodyTooLarge;
        else if (this.totalBufferedBytes > maxTotalBytes) refusal = tooManyLargeBodies;
        if (refusal) releaseBuffer();
      }
      return refusal ?? { kind: "read", bytes: Buffer.concat(chunks) };
    } catch {
      return { kind: "gone" };
    } finally {
      releaseBuffer();
    }
  }
}

const bodyTooLarge: BodyReadResult = {
  kind: "refused",
  status: 413,
  reason: "the body is over 64 MB",
};
const tooManyLargeBodies: BodyReadResult = {
  kind: "refused",
  status: 529,
  reason: "too many large concurrent requests",
};
