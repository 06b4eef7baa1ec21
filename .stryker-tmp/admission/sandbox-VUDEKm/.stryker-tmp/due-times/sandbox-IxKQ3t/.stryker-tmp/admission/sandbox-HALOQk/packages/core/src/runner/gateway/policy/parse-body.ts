/** A parsed body, and bytes that contain exactly the parsed values. */
export type ParsedBody =
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
