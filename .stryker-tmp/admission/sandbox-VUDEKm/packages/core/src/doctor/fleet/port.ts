import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename } from "node:path";
import type { LoadedFleet } from "@herdctl/config";
import { canUseAnyPort } from "../../triggers/webhooks/webhook-schedule.ts";
import { type Finding, failed, ok, warning } from "../check.ts";
import type { RunningFleet } from "./running-fleet.ts";

export interface PortFacts {
  host: string;
  port: number;
  /** The port is not configured explicitly, so any other port is fine. */
  isAnyPortAllowed: boolean;
  /** The error code of listening on the port, such as `EADDRINUSE`. */
  bindError: string | undefined;
  listener: Listener | undefined;
  running: RunningFleet | undefined;
}

export async function checkPort(
  loaded: Pick<LoadedFleet, "fleet" | "trees">,
  running: RunningFleet | undefined,
): Promise<Finding> {
  const { host, port } = loaded.fleet.server;
  const isAnyPortAllowed = canUseAnyPort(loaded);
  const bindError = await tryListen(host, port);
  const listener = bindError === "EADDRINUSE" ? findListener(port) : undefined;
  return evaluatePort({ host, port, isAnyPortAllowed, bindError, listener, running });
}

export function evaluatePort(facts: PortFacts): Finding {
  const name = "port";
  const { host, port, isAnyPortAllowed, bindError, listener, running } = facts;
  const address = `${host}:${port}`;
  if (bindError === undefined) return ok(name, `${address} is free.`);
  if (isOwnFleet(facts)) return ok(name, `This fleet listens on ${running?.url ?? address}.`);
  const choose = "choose another `server.port`";
  if (bindError === "EADDRINUSE") {
    const message = `${address} is used by ${describeListener(listener)}.`;
    if (isAnyPortAllowed) return ok(name, `${message} The fleet will use another port.`);
    return failed(name, message, `Stop that program, or ${choose}.`);
  }
  if (bindError === "EACCES") {
    const message = `This user is not permitted to listen on ${address}.`;
    return failed(
      name,
      message,
      `Ports below 1024 are for root: ${choose}, with a reverse proxy if necessary.`,
    );
  }
  const hint = "Correct `server.host`: it must be an address of this machine.";
  if (bindError === "EADDRNOTAVAIL" || bindError === "ENOTFOUND") {
    return failed(name, `${host} is not an address of this machine.`, hint);
  }
  return warning(name, `Listening on ${address} failed (${bindError}).`, hint);
}

function isOwnFleet({ port, listener, running }: PortFacts): boolean {
  if (running === undefined) return false;
  return listener?.pid === running.pid || (running.url !== null && portOf(running.url) === port);
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function describeListener(listener: Listener | undefined): string {
  if (listener === undefined) return "another program that this user cannot see";
  const fleet = listener.fleetDir === undefined ? "" : `, the fleet of ${listener.fleetDir}`;
  return `process ${listener.pid} (${listener.program}${fleet})`;
}

async function tryListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

interface Listener {
  pid: number;
  program: string;
  /** The folder of the fleet, if the process is a herdctl fleet. */
  fleetDir?: string;
}

/** The process that listens on a TCP port; undefined if the system does not show it to this user. */
function findListener(port: number): Listener | undefined {
  const inodes = new Set(["tcp", "tcp6"].flatMap((table) => listeningSockets(table, port)));
  if (inodes.size === 0) return undefined;
  const pid = listDir("/proc").find((name) => /^\d+$/.test(name) && hasSocket(name, inodes));
  return pid === undefined ? undefined : describeProcess(pid);
}

/** Numbers in these tables are hexadecimal; `0A` is a listening socket. */
function listeningSockets(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readText(`/proc/net/${table}`)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      local?.endsWith(suffix) && state === "0A" && inode ? [`socket:[${inode}]`] : [],
    );
}

function hasSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  return listDir(`/proc/${pid}/fd`).some((fd) => inodes.has(readLink(`/proc/${pid}/fd/${fd}`)));
}

/** Arguments are not shown, because they may contain private data. */
function describeProcess(pid: string): Listener {
  const [program = "", script = "", command = ""] = readText(`/proc/${pid}/cmdline`).split("\0");
  const processInfo = { pid: Number(pid), program: basename(program) };
  const isFleet = /^herdctl(\.mjs)?$/.test(basename(script)) && command === "start";
  return isFleet ? { ...processInfo, fleetDir: readLink(`/proc/${pid}/cwd`) } : processInfo;
}

function readText(path: string): string {
  return orDefault(() => readFileSync(path, "utf8"), "");
}

function listDir(path: string): string[] {
  return orDefault(() => readdirSync(path), []);
}

function readLink(path: string): string {
  return orDefault(() => readlinkSync(path), "");
}

/** Processes may exit during the read, and other users' processes are not readable. */
function orDefault<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
