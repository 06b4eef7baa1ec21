import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const program = resolve(import.meta.dirname, "../../scripts/postgres.mjs");

export interface PostgresProgram {
  /** The line that says where it is. */
  ready: Promise<string>;
  /** Gives an order and waits until it is carried out. */
  order(what: "stop" | "kill" | "start"): Promise<void>;
  /** Takes everything away; what is returned went wrong. */
  end(): Promise<string[]>;
}

/** `scripts/postgres.mjs` as a process of its own, which is gone when we are. */
export function startPostgresProgram(...options: string[]): PostgresProgram {
  const child = spawn("node", [program, ...options], { stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const gone = new Promise<number | null>((done) => child.once("close", done));
  const nextLine = () =>
    new Promise<string>((found, failed) => {
      lines.once("line", found);
      gone.then(() => failed(new Error(`there is no PostgreSQL for the tests:\n${said}`)));
    });
  const ready = nextLine();
  ready.catch(() => undefined);
  return {
    ready,
    order: async (what) => {
      const done = nextLine();
      child.stdin.write(`${what}\n`);
      await done;
    },
    end: async () => {
      child.stdin.end();
      return (await gone) === 0 ? [] : [said];
    },
  };
}
