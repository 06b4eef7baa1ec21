import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect } from "node:net";
import { UserError } from "@herdctl/protocol";

/** The operating system silently truncates longer paths. */
const maxSocketPathBytes = 107;

export async function listenOnPort(port: number, listener: RequestListener): Promise<Server> {
  const server = createKeepAliveServer(listener);
  await waitUntilListening(server, () => server.listen(port, "127.0.0.1"), `port ${port}`);
  return server;
}

export async function listenOnSocket(path: string, listener: RequestListener): Promise<Server> {
  const length = Buffer.byteLength(path);
  if (length > maxSocketPathBytes) {
    throw new UserError("usage", `the socket path is ${length} bytes long: ${path}`, {
      hint: `Choose a path of at most ${maxSocketPathBytes} bytes.`,
    });
  }
  await removeStaleSocket(path);
  const server = createKeepAliveServer(listener);
  await waitUntilListening(server, () => server.listen(path), path);
  chmodSync(path, 0o600);
  return server;
}

/** Idle connections stay open, so that clients can reuse them after long tool calls. */
function createKeepAliveServer(listener: RequestListener): Server {
  return createServer({ keepAliveTimeout: 600_000 }, listener);
}

async function waitUntilListening(
  server: Server,
  listen: () => void,
  address: string,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRINUSE")
        reject(new UserError("address_in_use", `${address} is in use`, { cause }));
      else reject(new UserError("usage", `cannot listen on ${address} (${cause.code})`, { cause }));
    });
    server.once("listening", resolve);
    listen();
  });
}

/** Removes a socket file whose process has died. */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  if (!stats.isSocket()) throw new UserError("file_exists", `${path} exists and is not a socket`);
  if (await hasListener(path)) throw new UserError("address_in_use", `${path} is in use`);
  rmSync(path, { force: true });
}

async function hasListener(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
