import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

export const checkout = resolve(import.meta.dirname, "../..");

/** The built program, as a person in a checkout starts it. */
export const program = join(checkout, "bin/herdctl");

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Options {
  cwd: string;
  env?: Record<string, string>;
}

/** Runs the built program to its end, with a home of its own and nothing of the outer environment. */
export async function herdctl(args: string[], options: Options): Promise<Run> {
  return await endOf(spawn(program, args, { cwd: options.cwd, env: ownEnv(options.env) }));
}

interface Typed extends Options {
  keys: { when: string; type: string }[];
}

/** The same on a terminal, at which somebody types. */
export function herdctlInTerminal(args: string[], options: Typed) {
  return inTerminal([program, ...args].join(" "), options);
}

/** Types the keys, one after the other once the screen shows what each waits for. */
export async function inTerminal(
  command: string,
  { cwd, env: extra, keys }: Typed,
): Promise<{ code: number | null; screen: string }> {
  const env = ownEnv({ TERM: "xterm-256color", ...extra });
  const sized = `stty columns 100 rows 40; exec ${command}`;
  const child = spawn("script", ["-qec", sized, "/dev/null"], { cwd, env });
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
  const { code } = await endOf(child);
  return { code, screen };
}

export function ownEnv(extra: Record<string, string> = {}): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), "herdctl-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", TMPDIR: tmpdir(), ...extra };
}

export async function endOf(child: ChildProcess): Promise<Run> {
  const run: Run = { code: null, stdout: "", stderr: "" };
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
