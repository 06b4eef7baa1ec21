import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type Gateway,
  type GatewayOptions,
  startGateway,
} from "../../packages/core/src/gateway/gateway.ts";
import type { SpendLimit } from "../../packages/core/src/gateway/metering/decide-call.ts";
import { spendLogPath } from "../../packages/core/src/gateway/metering/spend-log.ts";
import { SpendMeter } from "../../packages/core/src/gateway/metering/spend-meter.ts";
import { folderWith } from "../support/folder.ts";
import { tcpToSocket } from "../support/tcp-to-socket.ts";

export const realKey = "real-key-that-no-client-may-see";

export interface StandIn {
  url: string;
  seen: IncomingMessage[];
  server: Server;
}

/** A server in the place of the API, closed when the test is over. */
export async function standIn(
  answer: RequestListener,
  where: { path: string } | { port: number; host: string } = { port: 0, host: "127.0.0.1" },
): Promise<StandIn> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(where, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url =
    "path" in where
      ? "http://api.test"
      : `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen, server };
}

/** A gateway with the real key, stopped when the test is over; `baseUrl` leads to its socket. */
export async function gatewayTo(
  upstream: string,
  options: Partial<GatewayOptions> = {},
): Promise<Gateway> {
  const credential = { kind: "api_key", value: realKey } as const;
  const socketPath = options.socketPath ?? join(folderWith({}), "api.sock");
  const gateway = await startGateway({ upstream, credential, ...options, socketPath });
  onTestFinished(() => gateway.stop());
  return { ...gateway, baseUrl: await tcpToSocket(socketPath) };
}

/** What meters a run whose job folder is this one. */
export function meterFor(folder: string, limits: readonly SpendLimit[] = []): SpendMeter {
  const meter = new SpendMeter({ logPath: spendLogPath(folder, 1), limits });
  onTestFinished(() => meter.close());
  return meter;
}

/** A message call as a client makes it. */
export function ask(gateway: Gateway, init: RequestInit & { key?: string; path?: string } = {}) {
  const { key = gateway.placeholder, path = "/v1/messages", headers, ...rest } = init;
  return fetch(`${gateway.baseUrl}${path}`, {
    method: "POST",
    body: '{"model":"m"}',
    headers: { "x-api-key": key, ...Object.fromEntries(new Headers(headers)) },
    ...rest,
  });
}

export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("it did not happen in 5 seconds");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
