/** What the first bytes of a connection say about the host that TLS is to be spoken with. */
export type ServerName =
  | { kind: "incomplete" }
  | { kind: "not_tls" }
  | { kind: "named"; name: string }
  | { kind: "unnamed" };

const [handshake, clientHello, serverNameExtension, hostName] = [22, 1, 0, 0];
const recordHead = 5;

/** Reads a ClientHello, in however many records it comes. What is no good one has no name. */
export function readServerName(bytes: Buffer): ServerName {
  if (bytes.length === 0) return { kind: "incomplete" };
  if (bytes[0] !== handshake) return { kind: "not_tls" };
  const hello = joinRecords(bytes);
  if (hello === "incomplete") return { kind: "incomplete" };
  const name = hello && nameIn(hello);
  return name ? { kind: "named", name } : { kind: "unnamed" };
}

function joinRecords(bytes: Buffer): Buffer | "incomplete" | undefined {
  let message = Buffer.alloc(0);
  for (let at = 0; ; ) {
    if (message.length >= 4) {
      const length = message.readUIntBE(1, 3);
      if (message[0] !== clientHello) return undefined;
      if (message.length >= 4 + length) return message.subarray(4, 4 + length);
    }
    if (bytes.length < at + recordHead) return "incomplete";
    const end = at + recordHead + bytes.readUInt16BE(at + 3);
    if (bytes[at] !== handshake) return undefined;
    if (bytes.length < end) return "incomplete";
    message = Buffer.concat([message, bytes.subarray(at + recordHead, end)]);
    at = end;
  }
}

function nameIn(hello: Buffer): string | undefined {
  try {
    let at = 2 + 32;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const end = at + 2 + hello.readUInt16BE(at);
    for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
      if (hello.readUInt16BE(at) === serverNameExtension) return onlyName(hello, at + 4);
    }
  } catch {
    // Too short for what it says of itself.
  }
  return undefined;
}

function onlyName(hello: Buffer, at: number): string | undefined {
  const listed = hello.readUInt16BE(at);
  const length = hello.readUInt16BE(at + 3);
  if (hello.readUInt8(at + 2) !== hostName || listed !== length + 3) return undefined;
  return hello.toString("latin1", at + 5, at + 5 + length).toLowerCase();
}
