import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { isLoopback } from "@herdctl/config";
import type { Node } from "@herdctl/protocol";
import { z } from "zod";
import { parseStoreAddress } from "../store/postgres/store-address.ts";
import { peerTimeoutMs } from "./lease-policy.ts";

const peerStatusSchema = z.object({
  node: z.string(),
  reaches: z.boolean(),
  /** The lease is held, so everything that the node runs continues. */
  lives: z.boolean(),
});
/** The answer of a node to a peer. */
export type PeerStatus = z.infer<typeof peerStatusSchema>;

/** A node and its address. */
export type Peer = Pick<Node, "id" | "address">;

/**
 * The server through which a node tells its peers, independently of the store, whether it reaches
 * the store. Requests and answers are signed with a secret from the store.
 */
export class PeerServer {
  private server: Server | undefined;
  private credentials: { secret: string; node: string } | undefined;
  private readonly seenNonces = new SeenNonces();

  constructor(private readonly statusFor: (asker: Peer) => PeerStatus) {}

  /** Resolves with the address for peers. */
  async listen(host: string): Promise<string> {
    const server = createServer(serverLimits, (request, response) => {
      response.setHeader("connection", "close");
      const peerRequest = this.verifyRequest(request);
      if (peerRequest === undefined || this.credentials === undefined) {
        response.writeHead(403).end();
        return;
      }
      const body = JSON.stringify(this.statusFor(peerRequest.asker));
      const seal = sign(this.credentials.secret, `answer ${peerRequest.nonce} ${body}`);
      response.writeHead(200, { "content-type": "application/json", seal }).end(body);
    });
    server.maxConnections = maxConnections;
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, host, resolve);
    });
    server.unref();
    const bound = server.address();
    const port = typeof bound === "object" && bound ? bound.port : 0;
    return `${reachableHost(host)}:${port}`;
  }

  /** Set after the node has joined. No request is answered before that. */
  setCredentials(secret: string, node: string): void {
    this.credentials = { secret, node };
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Undefined if the request does not come from a node of the fleet. */
  private verifyRequest({ headers, url }: IncomingMessage): PeerRequest | undefined {
    const { nonce, asker, seal, time } = headers;
    if (url !== "/store" || this.credentials === undefined) return undefined;
    if (typeof nonce !== "string" || !/^[0-9a-f]{32}$/.test(nonce)) return undefined;
    if (typeof asker !== "string" || typeof seal !== "string") return undefined;
    if (typeof time !== "string" || !/^\d{13}$/.test(time)) return undefined;
    const { secret, node } = this.credentials;
    if (
      /* defence: peer-request-signed */ !isValidSignature(
        seal,
        sign(secret, `ask ${node} ${time} ${nonce} ${asker}`),
      )
    )
      return undefined;
    // defence: peer-request-time
    if (Math.abs(Date.now() - Number(time)) > maxClockSkewMs) return undefined;
    // defence: peer-request-once
    if (!this.seenNonces.add(nonce)) return undefined;
    const credentials = parseAsker(asker);
    return credentials && { nonce, asker: credentials };
  }
}

/** Older or newer requests are refused, so the clocks of nodes may differ by this much. */
const maxClockSkewMs = 60_000;
const maxStoredNonces = 10_000;
const maxConnections = 64;
const serverLimits = /* defence: peer-connection-timeout */ {
  maxHeaderSize: 4 * 1024,
  headersTimeout: 2_000,
  requestTimeout: 2_000,
  connectionsCheckingInterval: 1_000,
};

/** The nonces of signed requests, for as long as their time would be accepted. */
class SeenNonces {
  private readonly expiryByNonce = new Map<string, number>();

  add(nonce: string, now: number = Date.now()): boolean {
    // In the order of their expiry.
    for (const [nonceKey, expiresAt] of this.expiryByNonce) {
      if (expiresAt > now) break;
      this.expiryByNonce.delete(nonceKey);
    }
    if (this.expiryByNonce.has(nonce) || this.expiryByNonce.size >= maxStoredNonces) return false;
    this.expiryByNonce.set(nonce, now + 2 * maxClockSkewMs);
    return true;
  }
}

/** A node of another version may use another format. */
function parseAsker(text: string): Peer | undefined {
  try {
    return askerSchema.parse(JSON.parse(decodeURIComponent(text)));
  } catch {
    return undefined;
  }
}

interface PeerRequest {
  nonce: string;
  asker: Peer;
}

const askerSchema = z.object({ id: z.string(), address: z.string().nullable() });

/**
 * Undefined if the peer does not answer, or another node does. A peer that answers knows this node
 * from then on.
 */
export async function requestPeerStatus(
  { id, address }: Peer,
  secret: string,
  self: Peer,
): Promise<PeerStatus | undefined> {
  if (address === null) return undefined;
  const nonce = randomBytes(16).toString("hex");
  const asker = encodeURIComponent(JSON.stringify({ id: self.id, address: self.address }));
  const time = String(Date.now());
  try {
    const { seal, body } = await fetchStatus(address, {
      nonce,
      asker,
      time,
      seal: sign(secret, `ask ${id} ${time} ${nonce} ${asker}`),
    });
    if (
      /* defence: peer-response-signed */ !isValidSignature(
        seal,
        sign(secret, `answer ${nonce} ${body}`),
      )
    )
      return undefined;
    const status = peerStatusSchema.parse(JSON.parse(body));
    return status.node === id ? status : undefined;
  } catch {
    return undefined;
  }
}

const maxAnswerBytes = 10_000;

/**
 * Plain HTTP without a proxy: peers are in the same network, and the answer is not confidential.
 */
function fetchStatus(
  address: string,
  headers: Record<string, string>,
): Promise<{ seal: string; body: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(peerTimeoutMs);
    const request = get(
      `http://${address}/store`,
      { headers, signal, agent: false },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          body += text;
          if (body.length > maxAnswerBytes) request.destroy();
        });
        response.on("error", reject);
        response.on("end", () => resolve({ seal: String(response.headers.seal), body }));
      },
    );
    request.on("error", reject);
  });
}

function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

function isValidSignature(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A server that listens on all addresses is reached by one of them. */
function reachableHost(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}

const probeTimeoutMs = 2_000;

/**
 * The address on which a node listens for its peers: the configured one, or the one from which it
 * reaches the store. If the store is on this machine, that is loopback. Otherwise the server is
 * reachable from the network of the store, and answers only signed requests.
 */
export async function peerListenHost(configured: string, store: string): Promise<string> {
  if (!isLoopback(configured)) return configured;
  const { server } = parseStoreAddress(store);
  if (server.startsWith("/")) return configured;
  return (await localAddressTowards(server)) ?? configured;
}

function localAddressTowards(server: string): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${server}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    const finish = (address?: string) => {
      socket.destroy();
      resolve(address);
    };
    socket.setTimeout(probeTimeoutMs, () => finish());
    socket.once("error", () => finish());
    socket.once("connect", () => finish(socket.localAddress));
  });
}
