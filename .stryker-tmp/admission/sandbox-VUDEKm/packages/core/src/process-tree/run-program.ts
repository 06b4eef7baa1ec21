export interface ProgramOptions {
  file: string;
  args: string[];
  cwd: string;
  /** The complete environment; nothing is inherited from ours. */
  env: Record<string, string>;
}

export interface ProgramResult {
  code: number | undefined;
  stdout: string;
  stderr: string;
  /** The system error code if the program could not be started, such as `ENOENT`. */
  failure?: string;
}

/**
 * Runs a non-interactive helper program, without input or terminal. It runs in a separate process
 * group, so that an abort also kills the children of a script.
 */
export async function runProgram(
  program: ProgramOptions,
  signal: AbortSignal,
): Promise<ProgramResult> {
  // Loaded on demand: most runs need no helper program, and the import is slow.
  const { execa } = await import("execa");
  signal.throwIfAborted();
  const { file, args, cwd, env } = program;
  const child = execa(file, args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    detached: true,
    stdin: "ignore",
  });
  const stop = () => killGroup(child.pid);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { exitCode, stdout, stderr, code } = await child;
    signal.throwIfAborted();
    const failure = child.pid === undefined ? { failure: code ?? "UNKNOWN" } : {};
    return { code: exitCode, stdout, stderr, ...failure };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function killGroup(leaderPid: number | undefined): void {
  if (leaderPid === undefined) return;
  try {
    process.kill(-leaderPid, "SIGKILL");
  } catch {
    // It has just exited.
  }
}
