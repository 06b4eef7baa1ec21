import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { runMarker } from "../environment.ts";
import { Leash } from "./leash.ts";

export interface HostCommand {
  /** For `/bin/sh`. */
  command: string;
  folder: string;
  /** The whole environment; only the marker is added. */
  env: Record<string, string>;
  /** The mark of its processes, by which they are found though we are dead. */
  token: string;
  input?: string;
  signal: AbortSignal;
  onStdout(data: Buffer): void;
  onStderr(data: Buffer): void;
}

export type CommandEnd =
  | { kind: "exit"; code: number | null; signal: string | null }
  | { kind: "unstarted"; error: Error }
  | { kind: "aborted" };

/** An operator's command on the host. Nothing that it started outlives it, nor the signal. */
export async function runHostCommand(given: HostCommand): Promise<CommandEnd> {
  const child = spawn("/bin/sh", ["-c", onceHeld, "sh", given.command], {
    cwd: given.folder,
    env: { ...given.env, [runMarker]: given.token },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const leash = new Leash(given.token);
  if (child.pid !== undefined) leash.hold(child.pid);
  letGo(child.stdio[3]);
  child.stdout.on("data", given.onStdout);
  child.stderr.on("data", given.onStderr);
  // A command need not read what it is told.
  child.stdin.on("error", () => undefined);
  child.stdin.end(given.input);

  const ended = new Promise<CommandEnd>((resolve) => {
    child.once("error", (error) => resolve({ kind: "unstarted", error }));
    child.once("exit", (code, signal) => resolve({ kind: "exit", code, signal }));
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  const end = await Promise.race([ended, aborted(given.signal)]);
  await leash.kill();
  await Promise.race([closed, pause(lastWords)]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return end;
}

/** What it forked before it is on the leash would not be on it, so it waits for a word first. */
const onceHeld = 'read -r _ <&3; exec /bin/sh -c "$1" 3<&-';

function letGo(stream: unknown): void {
  if (!(stream instanceof Writable)) return;
  stream.on("error", () => undefined);
  stream.end("\n");
}

const lastWords = 1_000;

function aborted(signal: AbortSignal): Promise<CommandEnd> {
  if (signal.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve({ kind: "aborted" }), { once: true }),
  );
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
