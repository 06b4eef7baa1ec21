import { crc32 } from "node:zlib";

/** A stream event as a frame of Bedrock's binary stream. */
export function awsChunk(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString("base64");
  const headers = {
    ":event-type": "chunk",
    ":content-type": "application/json",
    ":message-type": "event",
  };
  return encodeFrame(headers, JSON.stringify({ bytes, p: "abcdefghijklmnopqrstuvwxyz" }));
}

/** An error in the middle of a stream. */
export function awsException(type: string, message: string): Buffer {
  const headers = {
    ":exception-type": type,
    ":content-type": "application/json",
    ":message-type": "exception",
  };
  return encodeFrame(headers, JSON.stringify({ message }));
}

/** Length of the frame, length of its headers, checksum, headers, payload, checksum. */
function encodeFrame(headers: Record<string, string>, payload: string): Buffer {
  const headerBytes = Buffer.concat(Object.entries(headers).map(encodeHeader));
  const payloadBytes = Buffer.from(payload);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(12 + headerBytes.length + payloadBytes.length + 4, 0);
  lengths.writeUInt32BE(headerBytes.length, 4);
  const message = Buffer.concat([lengths, checksum(lengths), headerBytes, payloadBytes]);
  return Buffer.concat([message, checksum(message)]);
}

const textType = 7;

function encodeHeader([name, value]: [string, string]): Buffer {
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([textType]),
    length,
    valueBytes,
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
