import type { Readable, Writable } from "node:stream";
import { execa } from "execa";
import type { RunCgroup } from "../sweep/cgroup.ts";

export interface SpawnCommand {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** A running `claude`, wherever it runs. */
export interface ClaudeProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects: a program that could not be started has exited with its error. */
  readonly exited: Promise<ProcessExit>;
  /** It was in there before it began. */
  readonly group?: RunCgroup;
  kill(signal: NodeJS.Signals): void;
  /** It has been told to go: `exited` then comes as soon as its end is certain. */
  expectExit?(): void;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The system's code when the program could not be started at all, such as `ENOENT`. */
  failure?: string;
}

export type SpawnClaude = (command: SpawnCommand) => ClaudeProcess;

/** On this machine. */
export const spawnOnHost: SpawnClaude = ({ file, args, cwd, env }) => {
  const child = execa(file, args, { cwd, env, ...apart, stdio: ["pipe", "pipe", "pipe"] });
  return processOf(child, child.stdin, child);
};

/**
 * It leads a process group of its own, so that Ctrl-C in a terminal reaches us and not it: how an
 * agent stops is ours to decide.
 */
export const apart = {
  extendEnv: false,
  buffer: false,
  reject: false,
  detached: true,
} as const;

interface Child {
  pid?: number;
  stdout: Readable;
  stderr: Readable;
  kill(signal: NodeJS.Signals): boolean;
}

export interface Ended {
  exitCode?: number;
  signal?: string;
  code?: string;
}

export function processOf(child: Child, stdin: Writable, ended: PromiseLike<Ended>): ClaudeProcess {
  // A program that is gone closes its end first; what it did not read is no error of ours.
  stdin.on("error", () => undefined);
  const exited = ended.then(({ exitCode, signal, code }) => ({
    code: exitCode ?? null,
    signal: signal ?? null,
    ...(exitCode === undefined && signal === undefined && { failure: code ?? "UNKNOWN" }),
  }));
  return {
    pid: child.pid,
    stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: Promise.resolve(exited),
    kill: (signal) => void child.kill(signal),
  };
}
