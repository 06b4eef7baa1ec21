import { chmodSync } from "node:fs";
import type { Server } from "node:http";
import { UserError } from "../errors/user-error.ts";

/** The operating system cuts a longer path silently and binds another one. */
const longestSocketPath = 107;

export async function listenOnLoopback(server: Server): Promise<string> {
  await listening(server, { host: "127.0.0.1", port: 0 });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no TCP address was bound");
  return `http://127.0.0.1:${address.port}`;
}

export async function listenOnSocket(server: Server, path: string, mode = 0o600): Promise<void> {
  if (Buffer.byteLength(path) > longestSocketPath) {
    throw new UserError(
      "config_invalid",
      `the socket path is over ${longestSocketPath} bytes: ${path}`,
      {
        hint: "Use a state directory with a shorter path.",
      },
    );
  }
  await listening(server, { path });
  chmodSync(path, mode);
}

type Place = { host: string; port: number } | { path: string };

function listening(server: Server, place: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, place)));
    server.listen(place, resolve);
  });
}

function explain(error: NodeJS.ErrnoException, place: Place): Error {
  if (error.code !== "EADDRINUSE" || !("path" in place)) return error;
  return new UserError("address_in_use", `${place.path} is already in use`, { cause: error });
}
