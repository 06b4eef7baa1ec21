import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SpendLimit } from "../../packages/core/src/runner/contract/spend-limit.ts";
import {
  type Gateway,
  type GatewayOptions,
  startGateway,
} from "../../packages/core/src/runner/gateway/gateway.ts";
import { spendLogPath } from "../../packages/core/src/runner/gateway/metering/spend-log.ts";
import { SpendMeter } from "../../packages/core/src/runner/gateway/metering/spend-meter.ts";
import { forwardTcpToSocket } from "../support/tcp-to-unix-socket.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

export const realKey = "real-key-that-no-client-may-see";

export interface UpstreamStandIn {
  url: string;
  seen: IncomingMessage[];
  server: Server;
}

/** A server in place of the API, closed at the end of the test. */
export async function startUpstream(
  answer: RequestListener,
  where: { path: string } | { port: number; host: string } = { port: 0, host: "127.0.0.1" },
): Promise<UpstreamStandIn> {
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

/** A gateway with the real key, stopped at the end of the test; `baseUrl` leads to its socket. */
export async function startGatewayTo(
  upstream: string,
  options: Partial<GatewayOptions> = {},
): Promise<Gateway> {
  const credential = { kind: "api_key", value: realKey } as const;
  const socketPath = options.socketPath ?? join(tempFolderWith({}), "api.sock");
  const gateway = await startGateway({ upstream, credential, ...options, socketPath });
  onTestFinished(() => gateway.stop());
  return { ...gateway, baseUrl: await forwardTcpToSocket(socketPath) };
}

/** The meter of a run with this job folder. */
export function createMeter(folder: string, limits: readonly SpendLimit[] = []): SpendMeter {
  const meter = new SpendMeter({ logPath: spendLogPath(folder, 1), limits });
  onTestFinished(() => meter.close());
  return meter;
}

/** Sends a message call as a client does. */
export function sendMessage(
  gateway: Gateway,
  init: RequestInit & { key?: string; path?: string } = {},
) {
  const { key = gateway.placeholder, path = "/v1/messages", headers, ...rest } = init;
  return fetch(`${gateway.baseUrl}${path}`, {
    method: "POST",
    body: '{"model":"m"}',
    headers: { "x-api-key": key, ...Object.fromEntries(new Headers(headers)) },
    ...rest,
  });
}

export async function waitUntil(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("it did not happen in 5 seconds");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
