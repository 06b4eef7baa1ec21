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
  const drafts = names.filter((name) => name.startsWith(prefix(path)));
  const isOwned = (name: string) => isAlive(ownerOf(name.slice(prefix(path).length)));
  for (const name of drafts.filter((draft) => !isOwned(draft))) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  return drafts.some(isOwned);
}

function prefix(path: string): string {
  return `.${basename(path)}.clone.`;
}

function ownerOf(owner: string): ProcessIdentity {
  const [pid = "", start_time = "", boot_id = ""] = owner.split(".");
  return { pid: Number(pid), start_time: decodeURIComponent(start_time), boot_id };
}
