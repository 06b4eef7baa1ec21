import type { Socket } from "node:net";
import { Transform } from "node:stream";
import { readServerName } from "./client-hello.ts";

const established = "HTTP/1.1 200 Connection established\r\n\r\n";

/** Joins both sides until both have ended; when one breaks, so does the other. */
export function openTunnel(
  client: Socket,
  upstream: Socket,
  { head, host, onOtherName }: { head: Buffer; host: string; onOtherName: (name: string) => void },
): void {
  client.write(established);
  const checked = sameName(host, onOtherName);
  if (head.length > 0) checked.write(head);
  client.pipe(checked).pipe(upstream);
  upstream.pipe(client);
  client.once("close", (broken) => leave(upstream, broken));
  upstream.once("close", (broken) => leave(client, broken));
  checked.once("error", () => {
    client.destroy();
    upstream.destroy();
  });
}

/** What one side has sent is still to reach the other, unless something broke. */
function leave(side: Socket, broken: boolean): void {
  if (broken) side.destroy();
  else side.destroySoon();
}

const longestHello = 64 * 1024;

/**
 * Nothing of TLS is opened, but its first message names a host in the clear. One that is not the
 * host of the tunnel would reach a neighbour on the same server.
 */
function sameName(host: string, onOtherName: (name: string) => void): Transform {
  let first: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (first === undefined) return done(null, chunk);
      first = Buffer.concat([first, chunk]);
      const said = readServerName(first);
      if (said.kind === "incomplete" && first.length < longestHello) return done();
      if (said.kind === "not_tls" || (said.kind === "named" && said.name === host)) {
        const bytes = first;
        first = undefined;
        return done(null, bytes);
      }
      onOtherName(said.kind === "named" ? shown(said.name) : "a host without a name");
      return done(new Error("another host is meant"));
    },
    flush: (done) => done(null, first),
  });
}

function shown(name: string): string {
  return name.slice(0, 100).replace(/[^\x21-\x7e]/g, "?");
}
