import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A loopback address in front of a unix socket, for clients that only support TCP. */
export async function forwardTcpToSocket(path: string): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ path, allowHalfOpen: true });
    pipeSockets(client, upstream);
    pipeSockets(upstream, client);
    open.add(client);
    client.once("close", () => open.delete(client));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pipeSockets(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.once("close", () => to.destroySoon());
  from.pipe(to);
}
