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
  private secret: string | undefined;

  constructor(private readonly answer: (asker: Peer) => NodeWord) {}

  /** Resolves with where peers find it. */
  async open(host: string): Promise<string> {
    const server = createServer((request, response) => {
      const question = this.questionIn(request);
      if (question === undefined || this.secret === undefined)
        return void response.writeHead(403).end();
      const body = JSON.stringify(this.answer(question.asker));
      const seal = signed(this.secret, `answer ${question.nonce} ${body}`);
      response.writeHead(200, { "content-type": "application/json", seal }).end(body);
    });
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
  know(secret: string): void {
    this.secret = secret;
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
    const { nonce, asker, seal } = headers;
    if (url !== "/store" || this.secret === undefined) return undefined;
    if (typeof nonce !== "string" || !/^[0-9a-f]{32}$/.test(nonce)) return undefined;
    if (typeof asker !== "string" || typeof seal !== "string") return undefined;
    if (!isSeal(seal, signed(this.secret, `ask ${nonce} ${asker}`))) return undefined;
    const known = readAsker(asker);
    return known && { nonce, asker: known };
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
  try {
    const { seal, body } = await fetchAnswer(address, {
      nonce,
      asker,
      seal: signed(secret, `ask ${nonce} ${asker}`),
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
