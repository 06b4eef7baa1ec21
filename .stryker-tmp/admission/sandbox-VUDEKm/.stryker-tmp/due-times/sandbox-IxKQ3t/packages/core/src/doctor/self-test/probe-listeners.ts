import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";

export interface ProbeListeners {
  port: number;
  /** All addresses of this machine that other machines can reach. */
  addresses: string[];
  /** Protocols and addresses at which the token arrived. */
  arrivals(): string[];
  close(): Promise<void>;
}

const dualStack = { address: "::", type: "udp6" } as const;
const ipv4Only = { address: "0.0.0.0", type: "udp4" } as const;
/** The TCP port may be in use by UDP, and IPv6 may be disabled. */
const familyAttempts = [dualStack, dualStack, dualStack, ipv4Only, ipv4Only, ipv4Only];

/** Listens with TCP and UDP on every address, to detect connections from the container. */
export async function listenForToken(token: string): Promise<ProbeListeners> {
  let lastError: unknown;
  for (const family of familyAttempts) {
    try {
      return await listenOnce(token, family);
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

async function listenOnce(
  token: string,
  family: (typeof familyAttempts)[number],
): Promise<ProbeListeners> {
  const arrivals = new Set<string>();
  const tcp = tcpServer(token, (address) => arrivals.add(`TCP ${address}`));
  const udp = createSocket(family.type, (message, from) => {
    if (message.includes(token)) arrivals.add(`UDP from ${from.address}`);
  });
  try {
    await once(tcp.listen(0, family.address), "listening");
    const boundAddress = tcp.address();
    const port = boundAddress !== null && typeof boundAddress === "object" ? boundAddress.port : 0;
    await once(udp.bind(port, family.address), "listening");
    const close = () => closeAll(tcp, udp);
    return { port, addresses: ownAddresses(), arrivals: () => [...arrivals], close };
  } catch (error) {
    await closeAll(tcp, udp);
    throw error;
  }
}

function tcpServer(token: string, onToken: (address: string) => void): Server {
  return createServer((socket) => {
    let received = "";
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
      if (received.includes(token)) onToken(socket.localAddress?.replace("::ffff:", "") ?? "");
      if (received.length > 4_096) socket.destroy();
    });
  });
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .map(({ address }) => address);
}

async function closeAll(tcp: Server, udp: Socket): Promise<void> {
  await new Promise<void>((done) => tcp.close(() => done()));
  await new Promise<void>((done) => udp.close(() => done()));
}
