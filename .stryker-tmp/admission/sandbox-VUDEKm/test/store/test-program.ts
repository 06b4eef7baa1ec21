import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onCleanup } from "./test-stores.ts";

export interface TestProgram {
  child: ChildProcessByStdio<Writable, Readable, null>;
  lines: Interface;
  nextLine(): Promise<string>;
  ended: Promise<void>;
  kill(): Promise<void>;
}

/** A program of this folder in a process of its own. */
export function startTestProgram(name: string, ...args: string[]): TestProgram {
  const [node = "", ...rest] = programCommand(name, ...args);
  const child = spawn(node, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout });
  const iterator = lines[Symbol.asyncIterator]();
  const kill = () => {
    child.kill("SIGKILL");
    return ended;
  };
  onCleanup(kill);
  return { child, lines, ended, kill, nextLine: async () => String((await iterator.next()).value) };
}

export function programCommand(name: string, ...args: string[]): string[] {
  const file = (path: string) => fileURLToPath(new URL(`./programs/${path}`, import.meta.url));
  return [process.execPath, "--import", file("typescript-loader.mjs"), file(`${name}.ts`), ...args];
}
