import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import type { Environment } from "@herdctl/config";
import { raceTimeout } from "@herdctl/protocol";
import { waitForAbort } from "../lib/timeout.ts";
import { runMarkerVariable } from "./process-marker.ts";
import { ProcessTracker } from "./process-tracker.ts";

export interface HostCommand {
  /** Run with `/bin/sh -c`. */
  command: string;
  folder: string;
  /** The complete environment; only the run marker is added. */
  env: Record<string, string>;
  /** Value of the run marker, which identifies the command's processes even after we have died. */
  token: string;
  input?: string;
  signal: AbortSignal;
  onStdout(data: Buffer): void;
  onStderr(data: Buffer): void;
}

export type CommandResult =
  | { kind: "exit"; code: number | null; signal: string | null }
  | { kind: "unstarted"; error: Error }
  | { kind: "aborted" };

/** Runs an operator's command on the host. Its processes are killed when it ends or on abort. */
export async function runHostCommand(options: HostCommand): Promise<CommandResult> {
  const child = spawn("/bin/sh", ["-c", waitThenExec, "sh", options.command], {
    cwd: options.folder,
    env: { ...options.env, [runMarkerVariable]: options.token },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const tracker = new ProcessTracker(options.token);
  if (child.pid !== undefined) tracker.track(child.pid);
  releaseShell(child.stdio[3]);
  child.stdout.on("data", options.onStdout);
  child.stderr.on("data", options.onStderr);
  // The command does not have to read its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input);

  const ended = new Promise<CommandResult>((resolve) => {
    child.once("error", (error) => resolve({ kind: "unstarted", error }));
    child.once("exit", (code, signal) => resolve({ kind: "exit", code, signal }));
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  const aborted = waitForAbort(options.signal).then(() => ({ kind: "aborted" as const }));
  const end = await Promise.race([ended, aborted]);
  await tracker.kill();
  await raceTimeout(closed, outputDrainMs, () => undefined, { unref: true });
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return end;
}

/** The shell waits for one line, so that it is tracked before the command forks anything. */
const waitThenExec = 'read -r _ <&3; exec /bin/sh -c "$1" 3<&-';

function releaseShell(stream: unknown): void {
  if (!(stream instanceof Writable)) return;
  stream.on("error", () => undefined);
  stream.end("\n");
}

const outputDrainMs = 1_000;

const inheritedVariables = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+)$/;

/** The part of the fleet's environment that operator commands inherit: no secrets, no keys. */
export function hostEnvironment(fleet: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fleet).flatMap(([name, value]) =>
      value !== undefined && inheritedVariables.test(name) ? [[name, value]] : [],
    ),
  );
}
