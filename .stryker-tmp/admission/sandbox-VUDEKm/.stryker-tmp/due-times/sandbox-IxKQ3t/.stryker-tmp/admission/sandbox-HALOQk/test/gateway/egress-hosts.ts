import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type EgressProxy,
  type EgressProxyOptions,
  startEgressProxy,
} from "../../packages/core/src/runner/gateway/egress/egress-proxy.ts";

/** Covers registry.test, other.test and the subdomains of below.test. */
export const certificate = fileURLToPath(new URL("fixtures/hosts-cert.pem", import.meta.url));

/** A TLS host on loopback. */
export async function startTlsHost(answer: RequestListener) {
  const seen: IncomingMessage[] = [];
  const key = readFileSync(certificate.replace("cert", "key"));
  const server = createTlsServer({ key, cert: readFileSync(certificate) }, (request, response) => {
    seen.push(request);
    answer(request, response);
  });
  return { seen, port: await listenOnLoopback(server) };
}

/** A host on loopback that passes raw connections to `accept`. */
export async function startRawHost(accept: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    accept(socket);
  });
  return { port: await listenOnLoopback(server) };
}

async function listenOnLoopback(server: Server): Promise<number> {
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

/** An egress proxy with the given hosts open, closed at the end of the test. */
export async function startTestEgress(
  allow: EgressProxyOptions["allow"],
  options: Partial<EgressProxyOptions> = {},
): Promise<EgressProxy> {
  const egress = await startEgressProxy({ allow, ...options });
  onTestFinished(() => egress.stop());
  return egress;
}

/** A rule that opens a test host under a name. */
export function allowHost(host: string, port: number) {
  return { host: `${host}:${port}`, address: "127.0.0.1" };
}

/** The same for tunnels with any protocol. */
export function allowAnyProtocol(host: string, port: number) {
  return { ...allowHost(host, port), protocol: "tcp" as const };
}

export function connectToEgress(egress: EgressProxy): Socket {
  const { port } = new URL(egress.url ?? "");
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  return socket;
}

/** Sends raw bytes and returns the answer when the other side ends. */
export async function sendBytes(egress: EgressProxy, bytes: string): Promise<string> {
  const socket = connectToEgress(egress);
  socket.write(bytes, "latin1");
  const answer = await readAll(socket);
  socket.destroy();
  return answer;
}

export function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
  });
  return new Promise((resolve) => {
    socket.once("end", () => resolve(text));
    socket.once("close", () => resolve(text));
  });
}
