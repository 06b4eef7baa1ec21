/** The host name in the TLS ClientHello of a connection. */
export type ServerNameResult =
  | { kind: "incomplete" }
  | { kind: "not_tls" }
  | { kind: "named"; name: string }
  /** The real name is in an encrypted part of the message. */
  | { kind: "encrypted" }
  | { kind: "unnamed" };

const handshakeRecordType = 22;
const clientHelloType = 1;
const recordHeaderBytes = 5;
const serverNameExtension = 0;
const hostNameType = 0;
/**
 * Encrypted ClientHello (RFC 9849, also when a client only sends random bytes there) and its
 * predecessors: the drafts 7 to 10 and encrypted server names.
 */
const encryptedNameExtensions = [0xfe0d, 0xfe0a, 0xfe09, 0xfe08, 0xff02, 0xffce];

/** Reads a ClientHello from one or more TLS records. A malformed one counts as unnamed. */
export function readServerName(bytes: Buffer): ServerNameResult {
  if (bytes.length === 0) return { kind: "incomplete" };
  if (bytes[0] !== handshakeRecordType) return { kind: "not_tls" };
  const hello = joinRecords(bytes);
  if (hello === "incomplete") return { kind: "incomplete" };
  const extensions = hello && readExtensions(hello);
  if (!extensions) return { kind: "unnamed" };
  if (
    /* defence: no-encrypted-hello */ encryptedNameExtensions.some((type) => extensions.has(type))
  )
    return { kind: "encrypted" };
  const name = parseServerName(extensions.get(serverNameExtension));
  return name ? { kind: "named", name } : { kind: "unnamed" };
}

function joinRecords(bytes: Buffer): Buffer | "incomplete" | undefined {
  let message = Buffer.alloc(0);
  for (let at = 0; ; ) {
    if (message.length >= 4) {
      const length = message.readUIntBE(1, 3);
      if (message[0] !== clientHelloType) return undefined;
      if (message.length >= 4 + length) return message.subarray(4, 4 + length);
    }
    if (bytes.length < at + recordHeaderBytes) return "incomplete";
    const end = at + recordHeaderBytes + bytes.readUInt16BE(at + 3);
    if (bytes[at] !== handshakeRecordType) return undefined;
    if (bytes.length < end) return "incomplete";
    message = Buffer.concat([message, bytes.subarray(at + recordHeaderBytes, end)]);
    at = end;
  }
}

/** Undefined if the message is malformed or repeats a type, because parsers disagree on which one counts. */
function readExtensions(hello: Buffer): Map<number, Buffer> | undefined {
  const extensions = new Map<number, Buffer>();
  try {
    let at = 2 + 32;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const end = at + 2 + hello.readUInt16BE(at);
    if (end !== hello.length) return undefined;
    for (at += 2; at < end; ) {
      const type = hello.readUInt16BE(at);
      const next = at + 4 + hello.readUInt16BE(at + 2);
      if (extensions.has(type) || next > end) return undefined;
      extensions.set(type, hello.subarray(at + 4, next));
      at = next;
    }
  } catch {
    // The message is shorter than its length fields.
    return undefined;
  }
  return extensions;
}

/** A list with one entry of the type "host name" and nothing after it. */
function parseServerName(list: Buffer | undefined): string | undefined {
  if (list === undefined || list.length < 5 || list.readUInt8(2) !== hostNameType) return undefined;
  const length = list.readUInt16BE(3);
  if (list.readUInt16BE(0) !== length + 3 || list.length !== length + 5) return undefined;
  return list.toString("latin1", 5).toLowerCase();
}
