export interface ShortProgram {
  file: string;
  args: string[];
  cwd: string;
  /** The whole environment; nothing is added from ours. */
  env: Record<string, string>;
}

export interface ProgramEnd {
  code: number | undefined;
  stdout: string;
  stderr: string;
  /** The system's code when the program could not be started at all, such as `ENOENT`. */
  failure?: string;
}

/**
 * Runs a helper that asks no questions: it has no input and no terminal. It leads a group of its
 * own that ends as a whole when the signal comes, for a script's children would outlive it.
 */
export async function runToEnd(program: ShortProgram, signal: AbortSignal): Promise<ProgramEnd> {
  // Loaded when it is needed: most runs need no helper, and it takes its time.
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

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It ended by itself just now.
  }
}
