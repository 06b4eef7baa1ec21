import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { currentProcess, isAlive, type ProcessIdentity } from "../state/process-identity.ts";

/** A clone in the making stands beside its place, and its name says who makes it. */
export function draftFor(path: string): string {
  const { pid, start_time, boot_id } = currentProcess();
  const owner = [pid, encodeURIComponent(start_time), boot_id].join(".");
  return join(dirname(path), `${prefix(path)}${owner}.${randomBytes(4).toString("hex")}`);
}

/** Whether anyone is at it now; what the dead left half done is removed. */
export async function isBeingCloned(path: string): Promise<boolean> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  let isOwned = false;
  for (const name of names) {
    const owner = ownerOf(name, prefix(path));
    if (owner === undefined) continue;
    if (isAlive(owner)) isOwned = true;
    else await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  return isOwned;
}

function prefix(path: string): string {
  return `.${basename(path)}.clone.`;
}

/** Exactly such a name as we give, for what bears it may be removed. */
function ownerOf(name: string, start: string): ProcessIdentity | undefined {
  if (!name.startsWith(start)) return undefined;
  const parts = /^(\d+)\.([\w%-]+)\.([\da-f-]{36})\.[\da-f]{8}$/i.exec(name.slice(start.length));
  const [, pid, startTime, bootId] = parts ?? [];
  if (!pid || !startTime || !bootId) return undefined;
  return { pid: Number(pid), start_time: decodeURIComponent(startTime), boot_id: bootId };
}
