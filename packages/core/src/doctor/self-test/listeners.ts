import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";

export interface Listeners {
  port: number;
  /** All addresses by which this machine can be reached from elsewhere. */
  addresses: string[];
  /** Where somebody came who knew the word. */
  arrived(): string[];
  close(): Promise<void>;
}

const bothFamilies = { address: "::", type: "udp6" } as const;
const oldFamily = { address: "0.0.0.0", type: "udp4" } as const;
/** The port that TCP was given may be in use by UDP; and a machine may do without IPv6. */
const attempts = [bothFamilies, bothFamilies, bothFamilies, oldFamily, oldFamily, oldFamily];

/** Listens by TCP and UDP on every address, to see for ourselves whether something gets out. */
export async function listenForWord(word: string): Promise<Listeners> {
  let reason: unknown;
  for (const attempt of attempts) {
    try {
      return await listenOnce(word, attempt);
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}

async function listenOnce(word: string, family: (typeof attempts)[number]): Promise<Listeners> {
  const arrived = new Set<string>();
  const tcp = tcpServer(word, (address) => arrived.add(`TCP ${address}`));
  const udp = createSocket(family.type, (message, from) => {
    if (message.includes(word)) arrived.add(`UDP from ${from.address}`);
  });
  try {
    await once(tcp.listen(0, family.address), "listening");
    const place = tcp.address();
    const port = place !== null && typeof place === "object" ? place.port : 0;
    await once(udp.bind(port, family.address), "listening");
    const close = () => closeAll(tcp, udp);
    return { port, addresses: ownAddresses(), arrived: () => [...arrived], close };
  } catch (error) {
    await closeAll(tcp, udp);
    throw error;
  }
}

function tcpServer(word: string, onWord: (address: string) => void): Server {
  return createServer((socket) => {
    let heard = "";
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      heard += text;
      if (heard.includes(word)) onWord(socket.localAddress?.replace("::ffff:", "") ?? "");
      if (heard.length > 4_096) socket.destroy();
    });
  });
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((one) => one ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .map(({ address }) => address);
}

async function closeAll(tcp: Server, udp: Socket): Promise<void> {
  await new Promise<void>((done) => tcp.close(() => done()));
  await new Promise<void>((done) => udp.close(() => done()));
}
