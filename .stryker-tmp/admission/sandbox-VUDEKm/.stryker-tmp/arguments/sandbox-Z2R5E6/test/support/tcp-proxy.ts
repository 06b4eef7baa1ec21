import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { RegisterCleanup } from "./temp-folder.ts";

/** A proxied connection to a server that a test can break in several ways. */
export interface TcpProxy {
  port: number;
  /** Stops listening and closes all connections. */
  refuse(): Promise<void>;
  /** Closes all connections but accepts new ones. */
  cut(): void;
  /** Forwards nothing in either direction without closing: half-open connections. */
  silence(): void;
  /** Accepts new connections; the silenced ones stay dead. */
  restore(): Promise<void>;
}

/** By then a server with keepalive checks has closed silent connections. */
const silentConnectionTimeoutMs = 25_000;

export async function startTcpProxy(
  port: number,
  onCleanup: RegisterCleanup = onTestFinished,
): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on("error", () => undefined);
      from.on("data", (data) => !silencedPairs.has(pair) && to.write(data));
      from.on("close", () => {
        if (silencedPairs.has(pair)) return;
        to.destroy();
        pairs.delete(pair);
      });
    }
    if (isSilent) silenceConnection(pair);
  });
  const silencedPairs = new Set<[Socket, Socket]>();
  const silenceConnection = (pair: [Socket, Socket]) => {
    silencedPairs.add(pair);
    setTimeout(() => pair[1].destroy(), silentConnectionTimeoutMs).unref();
  };
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
    silencedPairs.clear();
  };
  const own = await listen(server, 0);
  onCleanup(async () => {
    cut();
    if (server.listening) await new Promise((done) => server.close(done));
  });
  return {
    port: own,
    cut,
    refuse: async () => {
      const closed = new Promise((done) => server.close(done));
      cut();
      await closed;
    },
    silence: () => {
      isSilent = true;
      for (const pair of pairs) if (!silencedPairs.has(pair)) silenceConnection(pair);
    },
    restore: async () => {
      isSilent = false;
      if (!server.listening) await listen(server, own);
    },
  };
}

/** The same address through the proxy. */
export function proxiedAddress(proxy: TcpProxy, address: string): string {
  const url = new URL(address);
  url.port = String(proxy.port);
  return url.href;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const address = server.address();
  return typeof address === "object" && address ? address.port : port;
}
