import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

export const checkout = resolve(import.meta.dirname, "../..");

/** The built program, as started from a checkout. */
export const program = join(checkout, "bin/herdctl");

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface HerdctlOptions {
  cwd: string;
  env?: Record<string, string>;
}

/** Runs the built program to its end, with a separate home and a minimal environment. */
export async function runHerdctl(args: string[], options: HerdctlOptions): Promise<CommandResult> {
  return await waitForExit(
    spawn(program, args, { cwd: options.cwd, env: minimalEnv(options.env) }),
  );
}

interface TerminalOptions extends HerdctlOptions {
  keys: { when: string; type: string }[];
}

/** Runs the built program in a pseudo-terminal that types the given keys. */
export function runHerdctlInTerminal(args: string[], options: TerminalOptions) {
  return runInTerminal([program, ...args].join(" "), options);
}

/** Types each key sequence once the screen shows the text it waits for. */
export async function runInTerminal(
  command: string,
  { cwd, env: extra, keys }: TerminalOptions,
): Promise<{ code: number | null; screen: string }> {
  const env = minimalEnv({ TERM: "xterm-256color", ...extra });
  const sizedCommand = `stty columns 100 rows 40; exec ${command}`;
  const child = spawn("script", ["-qec", sizedCommand, "/dev/null"], { cwd, env });
  const waiting = [...keys];
  let screen = "";
  let read = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    const next = waiting[0];
    const found = next ? screen.indexOf(next.when, read) : -1;
    if (!next || found < 0) return;
    read = found + next.when.length;
    waiting.shift();
    child.stdin.write(next.type);
  });
  const { code } = await waitForExit(child);
  return { code, screen };
}

export function minimalEnv(extra: Record<string, string> = {}): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), "herdctl-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", TMPDIR: tmpdir(), ...extra };
}

export async function waitForExit(child: ChildProcess): Promise<CommandResult> {
  const run: CommandResult = { code: null, stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    run.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    run.stderr += text;
  });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...run, code }));
  });
}
