import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface OrderedProgram {
  /** Its first line, which says that it is ready. */
  ready: Promise<string>;
  /** Gives an order and waits until it is carried out, which a line says. */
  order(what: string): Promise<void>;
  /** Has it end; resolves with how it did. */
  end(): Promise<{ isWell: boolean; said: string; lastLine: string }>;
}

/** A script that holds something for as long as we are there, and takes orders line by line. */
export function startOrdered(
  script: readonly string[],
  { missing, onSaid }: { missing: string; onSaid?: (text: string) => void },
): OrderedProgram {
  const child = spawn("node", script, { stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout });
  let [said, lastLine] = ["", ""];
  lines.on("line", (line) => {
    lastLine = line;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    onSaid?.(text);
  });
  const gone = new Promise<number | null>((done) => child.once("close", done));
  const nextLine = () =>
    new Promise<string>((found, failed) => {
      lines.once("line", found);
      gone.then(() => failed(new Error(`${missing}:\n${said}`)));
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
      return { isWell: (await gone) === 0, said, lastLine };
    },
  };
}
