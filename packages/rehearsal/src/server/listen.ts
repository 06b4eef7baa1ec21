import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect } from "node:net";
import { UserError } from "@herdctl/core/document";

/** Longer paths are cut by the system without a word, and the socket appears elsewhere. */
const longestSocketPath = 107;

export async function listenOnPort(port: number, listener: RequestListener): Promise<Server> {
  const server = patientServer(listener);
  await listening(server, () => server.listen(port, "127.0.0.1"), `port ${port}`);
  return server;
}

export async function listenOnSocket(path: string, listener: RequestListener): Promise<Server> {
  const length = Buffer.byteLength(path);
  if (length > longestSocketPath) {
    throw new UserError("usage", `the socket path is ${length} bytes long: ${path}`, {
      hint: `Choose a path of at most ${longestSocketPath} bytes.`,
    });
  }
  await clearStaleSocket(path);
  const server = patientServer(listener);
  await listening(server, () => server.listen(path), path);
  chmodSync(path, 0o600);
  return server;
}

/** A client that comes back to an idle connection after a long tool must still find it open. */
function patientServer(listener: RequestListener): Server {
  return createServer({ keepAliveTimeout: 600_000 }, listener);
}

async function listening(server: Server, listen: () => void, where: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRINUSE")
        reject(new UserError("address_in_use", `${where} is in use`, { cause }));
      else reject(new UserError("usage", `cannot listen on ${where} (${cause.code})`, { cause }));
    });
    server.once("listening", resolve);
    listen();
  });
}

/** A socket whose owner died stays as a file that nobody answers on. */
async function clearStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new UserError("file_exists", `${path} exists and is not a socket`);
  if (await answers(path)) throw new UserError("address_in_use", `${path} is in use`);
  rmSync(path, { force: true });
}

async function answers(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
