import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { UserError } from "@herdctl/core";
import { isTooLong } from "./socket-path.ts";

/** Listens at a path that only this user may use. Returns what takes it away again. */
export async function bind(server: Server, path: string): Promise<() => void> {
  if (!isTooLong(path)) {
    await bindAnew(server, path);
    return () => rmSync(path, { force: true });
  }
  const short = shortPath(path);
  await bindAnew(server, short);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
  symlinkSync(short, path);
  return () => {
    rmSync(path, { force: true });
    rmSync(short, { force: true });
    removeIfEmpty(dirname(short));
  };
}

async function bindAnew(server: Server, path: string): Promise<void> {
  try {
    return await listen(server, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    if (!lstatSync(path).isSocket() || (await somebodyAnswers(path))) {
      throw new UserError("address_in_use", `${path} is already in use`, { cause: error });
    }
  }
  rmSync(path, { force: true });
  await listen(server, path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // The socket comes into being inside `listen`: no moment is left in which others may use it.
    const usual = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(usual);
    }
  });
}

function somebodyAnswers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function shortPath(path: string): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `herdctl-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const isOurs = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  if (!isOurs) {
    throw new UserError("address_in_use", `${folder} is not a folder of yours alone`, {
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
    // Others have their sockets there.
  }
}
