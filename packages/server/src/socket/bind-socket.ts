import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { hasErrorCode, isSocketPathTooLong, UserError } from "@herdctl/protocol";

/** Listens on a socket that only this user can open. Returns a function that removes the socket. */
export async function bindSocket(server: Server, path: string): Promise<() => void> {
  if (!isSocketPathTooLong(path)) {
    await listenReplacingStale(server, path);
    return () => rmSync(path, { force: true });
  }
  const shortPath = createShortPath(path);
  await listenReplacingStale(server, shortPath);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
  symlinkSync(shortPath, path);
  return () => {
    rmSync(path, { force: true });
    rmSync(shortPath, { force: true });
    removeIfEmpty(dirname(shortPath));
  };
}

async function listenReplacingStale(server: Server, path: string): Promise<void> {
  try {
    return await listen(server, path);
  } catch (error) {
    if (!hasErrorCode(error, "EADDRINUSE")) throw error;
    if (
      /* defence: only-stale-sockets-removed */ !lstatSync(path).isSocket() ||
      (await hasListener(path))
    ) {
      throw new UserError("address_in_use", `${path} is already in use`, { cause: error });
    }
  }
  rmSync(path, { force: true });
  await listen(server, path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // `listen` creates the socket synchronously, so it never exists with wider permissions.
    const previousUmask = process.umask(/* defence: control-socket-umask */ 0o177);
    try {
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(previousUmask);
    }
  });
}

function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function createShortPath(path: string): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `herdctl-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  const isPrivate = stats.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0;
  // defence: private-socket-folder
  if (!isPrivate) {
    throw new UserError("address_in_use", `${folder} is not a private folder of this user`, {
      hint: "Remove it, or use a state directory with a shorter path.",
    });
  }
  const name = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return join(folder, `${name}.sock`);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder contains sockets of other fleets.
  }
}
