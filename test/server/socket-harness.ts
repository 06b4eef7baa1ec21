import { request } from "node:http";
import { join } from "node:path";
import { connectFleet, type FleetClient } from "@herdctl/protocol/client";
import { createApp, type FleetServer, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished } from "vitest";
import { FakeFleet } from "./fake-fleet.ts";

export interface SocketHarness {
  fleet: FakeFleet;
  server: FleetServer;
  socket: string;
  bugs: unknown[];
}

/** A fleet served on its socket, stopped at the end of the test. */
export async function startSocketHarness(): Promise<SocketHarness> {
  const fleet = await FakeFleet.open();
  const socket = join(fleet.stateDir, "herdctl.sock");
  const bugs: unknown[] = [];
  const server = await serveOnSocket(createApp(fleet, { onBug: (bug) => bugs.push(bug) }), socket);
  onTestFinished(async () => {
    await server.stop();
    await fleet.close();
  });
  return { fleet, server, socket, bugs };
}

export async function connect(socket: string): Promise<FleetClient> {
  const client = await connectFleet({ socketPath: socket });
  if (!client) return expect.fail(`nobody answers at ${socket}`);
  onTestFinished(() => client.close());
  return client;
}

export interface SocketResponse {
  status: number;
  type: string | undefined;
  text: string;
  json: unknown;
}

/** A plain HTTP request without the client. */
export function sendRequest(
  socket: string,
  method: string,
  path: string,
  { body, headers }: { body?: string; headers?: Record<string, string> } = {},
): Promise<SocketResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, method, path, headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const type = response.headers["content-type"];
      const json = type?.startsWith("application/json") ? JSON.parse(text) : undefined;
      resolve({ status: response.statusCode ?? 0, type, text, json });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
