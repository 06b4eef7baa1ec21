import { spawn } from "node:child_process";

export interface ProgramEnd {
  /** Undefined when it could not be started. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** A small program of the system, run to its end. */
export function runProgram(
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<ProgramEnd> {
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const end = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    end.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    end.stderr += text;
  });
  return new Promise((resolve) => {
    child.once("error", () => resolve({ ...end, code: undefined }));
    child.once("close", (code) => resolve({ ...end, code: code ?? undefined }));
  });
}
