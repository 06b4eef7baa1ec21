import type { Socket } from "node:net";
import { readServerName, type ServerNameResult } from "./client-hello.ts";
import type { TunnelProtocol } from "./rules.ts";

export interface TunnelOptions {
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
