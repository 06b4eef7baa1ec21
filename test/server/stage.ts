import { request } from "node:http";
import { join } from "node:path";
import { createApp, type FleetServer, serveOnSocket } from "@herdctl/server";
import { connectFleet, type FleetClient } from "@herdctl/server/client";
import { expect, onTestFinished } from "vitest";
import { SmallFleet } from "./small-fleet.ts";

export interface ServedFleet {
  fleet: SmallFleet;
  server: FleetServer;
  socket: string;
  bugs: unknown[];
}

/** A fleet that is served on its socket, taken down when the test is over. */
export async function serve(): Promise<ServedFleet> {
  const fleet = await SmallFleet.open();
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
  const client = await connectFleet(socket);
  if (!client) return expect.fail(`nobody answers at ${socket}`);
  onTestFinished(() => client.close());
  return client;
}

export interface Answered {
  status: number;
  type: string | undefined;
  text: string;
  json: unknown;
}

/** As any program would ask that knows only HTTP. */
export function ask(
  socket: string,
  method: string,
  path: string,
  { body, headers }: { body?: string; headers?: Record<string, string> } = {},
): Promise<Answered> {
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
