import type { Socket } from "node:net";
import type { TunnelProtocol } from "./rules.ts";

interface TunnelOptions {
  /** The client's first bytes, which arrived with its request. */
  head: Buffer;
  host: string;
  protocol: TunnelProtocol;
  helloTimeoutMs: number;
  onRefused(refusal: TunnelRefusal): void;
}

export interface TunnelRefusal {
  reason: string;
  /** The client speaks another protocol, which a rule for this host could allow. */
  isOtherProtocol: boolean;
}

const establishedResponse = "HTTP/1.1 200 Connection established\r\n\r\n";

/**
 * Connects both sides until both have ended; if one side fails, the other is closed. Nothing is
 * forwarded before the client has started TLS for the tunnel's host: with plain text or another name,
 * it could reach a different site on the same server.
 */
export function openTunnel(client: Socket, upstream: Socket, options: TunnelOptions): void {
  const { head, host, protocol, helloTimeoutMs, onRefused } = options;
  client.once("close", (hadError) => closeSide(upstream, hadError));
  upstream.once("close", (hadError) => closeSide(client, hadError));
  client.write(establishedResponse);
  if (protocol === "tcp") {
    pipeBothWays(client, upstream, head);
    return;
  }
  readClientHello(client, head, helloTimeoutMs, (serverName, bytes) => {
    const refusal = refusalOf(serverName, host);
    if (refusal === undefined) {
      pipeBothWays(client, upstream, bytes);
      return;
    }
    onRefused(refusal);
    client.destroy();
    upstream.destroy();
  });
}

function pipeBothWays(client: Socket, upstream: Socket, firstBytes: Buffer): void {
  if (firstBytes.length > 0) upstream.write(firstBytes);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** Flushes data that is still to be sent, unless the connection failed. */
function closeSide(socket: Socket, hadError: boolean): void {
  if (hadError) socket.destroy();
  else socket.destroySoon();
}

const maxHelloBytes = 16 * 1024;

/** Calls `onHello` with the name in the client's first message and all bytes read so far. */
function readClientHello(
  client: Socket,
  head: Buffer,
  timeoutMs: number,
  onHello: (serverName: ServerNameResult, bytes: Buffer) => void,
): void {
  let bytes = head;
  const finish = (serverName: ServerNameResult) => {
    clearTimeout(timer);
    client.pause();
    client.off("data", onData);
    client.off("end", onEnd);
    client.off("close", onClose);
    onHello(serverName, bytes);
  };
  const check = () => {
    const serverName = readServerName(bytes);
    if (serverName.kind !== "incomplete" || bytes.length >= maxHelloBytes) finish(serverName);
  };
  const onData = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    check();
  };
  const onEnd = () => finish({ kind: "incomplete" });
  const onClose = () => clearTimeout(timer);
  const timer = setTimeout(finish, timeoutMs, { kind: "incomplete" });
  client.on("data", onData).once("end", onEnd).once("close", onClose);
  check();
  if (client.listeners("data").includes(onData)) client.resume();
}

function refusalOf(serverName: ServerNameResult, host: string): TunnelRefusal | undefined {
  const refuse = (reason: string, isOtherProtocol = false) => ({ reason, isOtherProtocol });
  switch (serverName.kind) {
    case "named":
      return /* defence: tls-name-matches */ serverName.name === host
        ? undefined
        : refuse(`TLS was started for ${toPrintable(serverName.name)}`);
    case "unnamed":
      // defence: tls-name-required
      return refuse("TLS was started without a host name");
    case "encrypted":
      return refuse("TLS was started with an encrypted ClientHello, which hides the host");
    case "not_tls":
      // defence: tls-only
      return refuse("tunnels only carry TLS; send plain HTTP to the proxy directly", true);
    case "incomplete":
      return refuse("TLS was not started in the tunnel", true);
  }
}

function toPrintable(name: string): string {
  return name.slice(0, 100).replace(/[^\x21-\x7e]/g, "?");
}

/** The host name in the TLS ClientHello of a connection. */
type ServerNameResult =
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
