import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { onTestFinished } from "vitest";

/** Records everything that is sent to this machine. */
export async function listenOnEveryAddress() {
  const received: string[] = [];
  const server = createServer((socket) => received.push(`tcp ${socket.remoteAddress}`));
  await new Promise<void>((done) => server.listen(0, "0.0.0.0", done));
  const udp = createSocket("udp4", (_, from) => received.push(`udp ${from.address}`));
  await new Promise<void>((done) => udp.bind(0, "0.0.0.0", done));
  onTestFinished(async () => {
    udp.close();
    await new Promise((done) => server.close(done));
  });
  const address = server.address();
  return {
    received: received,
    tcp: typeof address === "object" ? address?.port : 0,
    udp: udp.address().port,
  };
}
