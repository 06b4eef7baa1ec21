import type { Readable, Writable } from "node:stream";
import { execa } from "execa";

interface SpawnCommand {
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
  kill(signal: NodeJS.Signals): void;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The system's code when the program could not be started at all, such as `ENOENT`. */
  failure?: string;
}

export type SpawnClaude = (command: SpawnCommand) => ClaudeProcess;

/**
 * On this machine. The program leads a process group of its own, so that Ctrl-C in a terminal
 * reaches us and not it: how an agent stops is ours to decide.
 */
export const spawnOnHost: SpawnClaude = ({ file, args, cwd, env }) => {
  const child = execa(file, args, {
    cwd,
    env,
    extendEnv: false,
    buffer: false,
    reject: false,
    detached: true,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  // A program that is gone closes its end first; what it did not read is no error of ours.
  child.stdin.on("error", () => undefined);
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: child.then((result) => ({
      code: result.exitCode ?? null,
      signal: result.signal ?? null,
      ...(result.exitCode === undefined &&
        result.signal === undefined && { failure: result.code ?? "UNKNOWN" }),
    })),
    kill: (signal) => void child.kill(signal),
  };
};
