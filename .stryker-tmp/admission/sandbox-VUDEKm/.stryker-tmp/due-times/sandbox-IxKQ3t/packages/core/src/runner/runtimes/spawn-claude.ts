import type { Readable, Writable } from "node:stream";
import { execa } from "execa";

export interface SpawnCommand {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** A running `claude`, on the host or in a container. */
export interface ClaudeProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects: if the program could not be started, it resolves with `failure`. */
  readonly exited: Promise<ProcessExit>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The system error code if the program could not be started, such as `ENOENT`. */
  failure?: string;
}

export type SpawnClaude = (command: SpawnCommand) => ClaudeProcess;

export const spawnOnHost: SpawnClaude = ({ file, args, cwd, env }) => {
  const child = execa(file, args, { cwd, env, ...spawnOptions, stdio: ["pipe", "pipe", "pipe"] });
  // If the program exits before it has read all input, that is not our error.
  child.stdin.on("error", () => undefined);
  const exited = child.then(({ exitCode, signal, code }: ExecaResult) => ({
    code: exitCode ?? null,
    signal: signal ?? null,
    ...(exitCode === undefined && signal === undefined && { failure: code ?? "UNKNOWN" }),
  }));
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: Promise.resolve(exited),
    kill: (signal) => void child.kill(signal),
  };
};

/**
 * `detached` starts a separate process group, so that Ctrl-C in a terminal only reaches herdctl, which
 * decides how to stop the agent.
 */
const spawnOptions = {
  extendEnv: false,
  buffer: false,
  reject: false,
  detached: true,
} as const;

interface ExecaResult {
  exitCode?: number;
  signal?: string;
  code?: string;
}
