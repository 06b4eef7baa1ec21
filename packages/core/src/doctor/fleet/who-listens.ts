import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

export interface Listener {
  pid: number;
  program: string;
  /** The folder of the fleet that it is, if it is one of ours. */
  fleetDir?: string;
}

/** Which process listens on a TCP port; undefined where the system does not tell, or not us. */
export function whoListens(port: number): Listener | undefined {
  const inodes = new Set(["tcp", "tcp6"].flatMap((table) => listening(table, port)));
  if (inodes.size === 0) return undefined;
  const pid = readdir("/proc").find((name) => /^\d+$/.test(name) && holds(name, inodes));
  return pid === undefined ? undefined : describe(pid);
}

/** In these tables numbers are hexadecimal, and `0A` is a socket that listens. */
function listening(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return read(`/proc/net/${table}`)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      local?.endsWith(suffix) && state === "0A" && inode ? [`socket:[${inode}]`] : [],
    );
}

function holds(pid: string, inodes: ReadonlySet<string>): boolean {
  return readdir(`/proc/${pid}/fd`).some((fd) => inodes.has(link(`/proc/${pid}/fd/${fd}`)));
}

/** Its arguments are not shown: they may hold what is no business of ours. */
function describe(pid: string): Listener {
  const [program = "", script = "", command = ""] = read(`/proc/${pid}/cmdline`).split("\0");
  const found = { pid: Number(pid), program: basename(program) };
  const isFleet = /^herdctl(\.mjs)?$/.test(basename(script)) && command === "start";
  return isFleet ? { ...found, fleetDir: link(`/proc/${pid}/cwd`) } : found;
}

function read(path: string): string {
  return quietly(() => readFileSync(path, "utf8"), "");
}

function readdir(path: string): string[] {
  return quietly(() => readdirSync(path), []);
}

function link(path: string): string {
  return quietly(() => readlinkSync(path), "");
}

/** Processes come and go, and those of others are closed to us. */
function quietly<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
