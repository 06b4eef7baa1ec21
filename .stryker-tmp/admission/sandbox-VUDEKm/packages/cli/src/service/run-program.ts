import { spawn } from "node:child_process";

export interface ProgramResult {
  /** Undefined if the program could not be started. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs a system program and collects its output. */
export function runProgram(
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<ProgramResult> {
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  return new Promise((resolve) => {
    child.once("error", () => resolve({ ...output, code: undefined }));
    child.once("close", (code) => resolve({ ...output, code: code ?? undefined }));
  });
}
