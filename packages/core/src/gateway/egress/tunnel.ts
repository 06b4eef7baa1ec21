import type { Socket } from "node:net";
import { readServerName, type ServerName } from "./client-hello.ts";
import type { Protocol } from "./rules.ts";

export interface TunnelOptions {
  /** The first bytes of the client, which came with its request. */
  head: Buffer;
  host: string;
  protocol: Protocol;
  helloTimeoutMs: number;
  onRefused(refusal: TunnelRefusal): void;
}

export interface TunnelRefusal {
  reason: string;
  /** The client speaks another protocol, which a rule for this host could allow. */
  isOtherProtocol: boolean;
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n";

/**
 * Joins both sides until both have ended; when one breaks, so does the other. Nothing passes in
 * either direction before the client has begun TLS with the host of the tunnel: with plain text, or
 * another name, it would reach a neighbour on the same server.
 */
export function openTunnel(client: Socket, upstream: Socket, options: TunnelOptions): void {
  const { head, host, protocol, helloTimeoutMs, onRefused } = options;
  client.once("close", (broken) => leave(upstream, broken));
  upstream.once("close", (broken) => leave(client, broken));
  client.write(established);
  if (protocol === "tcp") {
    join(client, upstream, head);
    return;
  }
  readHello(client, head, helloTimeoutMs, (said, bytes) => {
    const refusal = refusalOf(said, host);
    if (refusal === undefined) {
      join(client, upstream, bytes);
      return;
    }
    onRefused(refusal);
    client.destroy();
    upstream.destroy();
  });
}

function join(client: Socket, upstream: Socket, first: Buffer): void {
  if (first.length > 0) upstream.write(first);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** What one side has sent still has to reach the other, unless the connection broke. */
function leave(side: Socket, broken: boolean): void {
  if (broken) side.destroy();
  else side.destroySoon();
}

const maxHelloBytes = 16 * 1024;

/** Gives what the client sent as its first message, and all bytes that were read for it. */
function readHello(
  client: Socket,
  head: Buffer,
  timeoutMs: number,
  done: (said: ServerName, bytes: Buffer) => void,
): void {
  let bytes = head;
  const finish = (said: ServerName) => {
    clearTimeout(timer);
    client.pause();
    client.off("data", onData);
    client.off("end", onEnd);
    client.off("close", onClose);
    done(said, bytes);
  };
  const judge = () => {
    const said = readServerName(bytes);
    if (said.kind !== "incomplete" || bytes.length >= maxHelloBytes) finish(said);
  };
  const onData = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    judge();
  };
  const onEnd = () => finish({ kind: "incomplete" });
  const onClose = () => clearTimeout(timer);
  const timer = setTimeout(finish, timeoutMs, { kind: "incomplete" });
  client.on("data", onData).once("end", onEnd).once("close", onClose);
  judge();
  if (client.listeners("data").includes(onData)) client.resume();
}

function refusalOf(said: ServerName, host: string): TunnelRefusal | undefined {
  const refuse = (reason: string, isOtherProtocol = false) => ({ reason, isOtherProtocol });
  switch (said.kind) {
    case "named":
      return said.name === host ? undefined : refuse(`TLS was begun for ${shown(said.name)}`);
    case "unnamed":
      return refuse("TLS was begun for a host without a name");
    case "encrypted":
      return refuse("TLS was begun with an encrypted ClientHello, which hides the host");
    case "not_tls":
      return refuse("a tunnel carries TLS only; plain HTTP goes through the proxy directly", true);
    case "incomplete":
      return refuse("TLS was not begun in the tunnel", true);
  }
}

function shown(name: string): string {
  return name.slice(0, 100).replace(/[^\x21-\x7e]/g, "?");
}
