import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { WhenOver } from "./folder.ts";

/** A wire to a server, on which everything can happen that happens to wires. */
export interface Proxy {
  port: number;
  /** Nobody listens any more, and who was connected is cut off. */
  refuse(): Promise<void>;
  /** Who is connected is cut off; who comes is served. */
  cut(): void;
  /** Nothing is passed on either way and nobody is told: the line is half open. */
  silence(): void;
  /** What was silent stays dead; who comes from now on is served. */
  restore(): Promise<void>;
}

/** By then a server that asks its silent clients for a sign of life has given them up. */
const foundOutAfter = 25_000;

export async function proxyTo(port: number, whenOver: WhenOver = onTestFinished): Promise<Proxy> {
  const pairs = new Set<[Socket, Socket]>();
  let isSilent = false;
  const server = createServer((caller) => {
    const called = connect(port, "127.0.0.1");
    const pair: [Socket, Socket] = [caller, called];
    pairs.add(pair);
    for (const [from, to] of [pair, [called, caller] as const]) {
      from.on("error", () => undefined);
      from.on("data", (data) => !silent.has(pair) && to.write(data));
      from.on("close", () => {
        if (silent.has(pair)) return;
        to.destroy();
        pairs.delete(pair);
      });
    }
    if (isSilent) fallSilent(pair);
  });
  const silent = new Set<[Socket, Socket]>();
  const fallSilent = (pair: [Socket, Socket]) => {
    silent.add(pair);
    setTimeout(() => pair[1].destroy(), foundOutAfter).unref();
  };
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
    silent.clear();
  };
  const own = await listen(server, 0);
  whenOver(async () => {
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
      for (const pair of pairs) if (!silent.has(pair)) fallSilent(pair);
    },
    restore: async () => {
      isSilent = false;
      if (!server.listening) await listen(server, own);
    },
  };
}

/** The same address by way of the proxy. */
export function through(proxy: Proxy, address: string): string {
  const url = new URL(address);
  url.port = String(proxy.port);
  return url.href;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const address = server.address();
  return typeof address === "object" && address ? address.port : port;
}
