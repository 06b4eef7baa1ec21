import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { networkInterfaces } from "node:os";
import { z } from "zod";
import type { Node } from "../../state/node.ts";
import { peerPatience } from "./terms.ts";

const wordSchema = z.object({
  node: z.string(),
  reaches: z.boolean(),
  /** Its lease has not ended: whatever it runs, goes on. */
  lives: z.boolean(),
});
/** What a node tells a peer that asks. */
export type NodeWord = z.infer<typeof wordSchema>;

/** A node, and where it answers. */
export type Peer = Pick<Node, "id" | "address">;

/**
 * Where a node answers its peers, beside the store and for when the store is away: whether it
 * reaches it. Question and answer are signed with a secret that lies in the store.
 */
export class PeerDoor {
  private server: Server | undefined;
  private known: { secret: string; node: string } | undefined;
  private readonly seen = new SeenNonces();

  constructor(private readonly answer: (asker: Peer) => NodeWord) {}

  /** Resolves with where peers find it. */
  async open(host: string): Promise<string> {
    const server = createServer(serverLimits, (request, response) => {
      response.setHeader("connection", "close");
      const question = this.questionIn(request);
      if (question === undefined || this.known === undefined) {
        response.writeHead(403).end();
        return;
      }
      const body = JSON.stringify(this.answer(question.asker));
      const seal = signed(this.known.secret, `answer ${question.nonce} ${body}`);
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

  /** Known once the node has joined; nobody is answered before. */
  know(secret: string, node: string): void {
    this.known = { secret, node };
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Undefined where nobody of the fleet asks. */
  private questionIn({ headers, url }: IncomingMessage): Question | undefined {
    const { nonce, asker, seal, time } = headers;
    if (url !== "/store" || this.known === undefined) return undefined;
    if (typeof nonce !== "string" || !/^[0-9a-f]{32}$/.test(nonce)) return undefined;
    if (typeof asker !== "string" || typeof seal !== "string") return undefined;
    if (typeof time !== "string" || !/^\d{13}$/.test(time)) return undefined;
    const { secret, node } = this.known;
    if (!isSeal(seal, signed(secret, `ask ${node} ${time} ${nonce} ${asker}`))) return undefined;
    if (Math.abs(Date.now() - Number(time)) > maxClockSkewMs) return undefined;
    if (!this.seen.isNew(nonce)) return undefined;
    const known = readAsker(asker);
    return known && { nonce, asker: known };
  }
}

/** A question that is older or newer is refused; so the clocks of nodes may differ by that much. */
const maxClockSkewMs = 60_000;
const maxNonces = 10_000;
const maxConnections = 64;
const serverLimits = {
  maxHeaderSize: 4 * 1024,
  headersTimeout: 2_000,
  requestTimeout: 2_000,
  connectionsCheckingInterval: 1_000,
};

/** The nonces of signed questions, for as long as their time would be accepted. */
class SeenNonces {
  private readonly expiry = new Map<string, number>();

  isNew(nonce: string, now: number = Date.now()): boolean {
    // In the order of their expiry.
    for (const [old, end] of this.expiry) {
      if (end > now) break;
      this.expiry.delete(old);
    }
    if (this.expiry.has(nonce) || this.expiry.size >= maxNonces) return false;
    this.expiry.set(nonce, now + 2 * maxClockSkewMs);
    return true;
  }
}

/** A node of another version may say it in another way. */
function readAsker(text: string): Peer | undefined {
  try {
    return askerSchema.parse(JSON.parse(decodeURIComponent(text)));
  } catch {
    return undefined;
  }
}

interface Question {
  nonce: string;
  asker: Peer;
}

const askerSchema = z.object({ id: z.string(), address: z.string().nullable() });

/** Undefined when it does not answer, or somebody else does. Whoever answers knows who has asked. */
export async function askPeer(
  { id, address }: Peer,
  secret: string,
  self: Peer,
): Promise<NodeWord | undefined> {
  if (address === null) return undefined;
  const nonce = randomBytes(16).toString("hex");
  const asker = encodeURIComponent(JSON.stringify({ id: self.id, address: self.address }));
  const time = String(Date.now());
  try {
    const { seal, body } = await fetchAnswer(address, {
      nonce,
      asker,
      time,
      seal: signed(secret, `ask ${id} ${time} ${nonce} ${asker}`),
    });
    if (!isSeal(seal, signed(secret, `answer ${nonce} ${body}`))) return undefined;
    const word = wordSchema.parse(JSON.parse(body));
    return word.node === id ? word : undefined;
  } catch {
    return undefined;
  }
}

const mostOfAnAnswer = 10_000;

/** Plain HTTP without a proxy: peers are in the same network, and what they say is no secret. */
function fetchAnswer(
  address: string,
  headers: Record<string, string>,
): Promise<{ seal: string; body: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(peerPatience);
    const request = get(
      `http://${address}/store`,
      { headers, signal, agent: false },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          body += text;
          if (body.length > mostOfAnAnswer) request.destroy();
        });
        response.on("error", reject);
        response.on("end", () => resolve({ seal: String(response.headers.seal), body }));
      },
    );
    request.on("error", reject);
  });
}

function signed(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

function isSeal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whoever listens on all addresses is called by one of them. */
function reachableHost(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}
