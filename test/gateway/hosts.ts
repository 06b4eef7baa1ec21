import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type Egress,
  type EgressOptions,
  startEgress,
} from "../../packages/core/src/gateway/egress/egress.ts";

/** For registry.test, other.test and what lies below below.test. */
export const certificate = fileURLToPath(new URL("fixtures/hosts-cert.pem", import.meta.url));

/** A host on loopback that speaks TLS. */
export async function tlsHost(answer: RequestListener) {
  const seen: IncomingMessage[] = [];
  const key = readFileSync(certificate.replace("cert", "key"));
  const server = createTlsServer({ key, cert: readFileSync(certificate) }, (request, response) => {
    seen.push(request);
    answer(request, response);
  });
  return { seen, port: await listening(server) };
}

/** A host on loopback that is given every connection as it comes. */
export async function rawHost(accept: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    accept(socket);
  });
  return { port: await listening(server) };
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** The second door with the given hosts open, closed when the test is over. */
export async function egressTo(
  allow: EgressOptions["allow"],
  options: Partial<EgressOptions> = {},
): Promise<Egress> {
  const egress = await startEgress({ allow, ...options });
  onTestFinished(() => egress.stop());
  return egress;
}

/** Opens a host of the test under a name. */
export function named(host: string, port: number) {
  return { host: `${host}:${port}`, address: "127.0.0.1" };
}

/** The same for tunnels with any protocol. */
export function unchecked(host: string, port: number) {
  return { ...named(host, port), protocol: "tcp" as const };
}

export function socketTo(egress: Egress): Socket {
  const { port } = new URL(egress.url ?? "");
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  return socket;
}

/** Sends bytes as they are and gives back all that comes until the other side ends. */
export async function send(egress: Egress, bytes: string): Promise<string> {
  const socket = socketTo(egress);
  socket.write(bytes, "latin1");
  const answer = await allOf(socket);
  socket.destroy();
  return answer;
}

export function allOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
  });
  return new Promise((resolve) => {
    socket.once("end", () => resolve(text));
    socket.once("close", () => resolve(text));
  });
}
