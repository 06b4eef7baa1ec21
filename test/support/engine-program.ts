import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const program = resolve(import.meta.dirname, "../../scripts/engine.mjs");

export interface EngineProgram {
  /** The line that says where the engine is. */
  ready: Promise<string>;
  /** Gives an order and waits until it is carried out. */
  order(what: "kill" | "start"): Promise<void>;
  /** What is returned should not have been left: containers, or what the end of the engine met. */
  stop(): Promise<string[]>;
}

/** `scripts/engine.mjs` as a process of its own, which takes everything with it when we are gone. */
export function startEngineProgram(): EngineProgram {
  const child = spawn("node", [program], { stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout });
  let [said, last] = ["", "{}"];
  lines.on("line", (line) => {
    last = line;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    process.stdout.write(text);
  });
  const gone = new Promise<number | null>((done) => child.once("close", done));
  const nextLine = () =>
    new Promise<string>((found, failed) => {
      lines.once("line", found);
      gone.then(() => failed(new Error(`there is no Docker engine for the tests:\n${said}`)));
    });
  const ready = nextLine();
  return {
    ready,
    order: async (what) => {
      const done = nextLine();
      child.stdin.write(`${what}\n`);
      await done;
    },
    stop: async () => {
      child.stdin.end();
      const isWell = (await gone) === 0 || (await ready.catch(() => "")) === "";
      const containers: string[] = JSON.parse(last).left ?? [];
      return [...containers.map((name) => `container ${name}`), ...(isWell ? [] : [said])];
    },
  };
}
