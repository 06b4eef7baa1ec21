import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface ControlledProgram {
  /** Its first line, printed when it is ready. */
  ready: Promise<string>;
  /** Sends a command and waits for the line that confirms it. */
  sendCommand(command: string): Promise<void>;
  /** Ends the script and resolves with its result. */
  end(): Promise<{ isSuccess: boolean; output: string; lastLine: string }>;
}

/** A script that holds a resource while this process lives and takes commands line by line. */
export function startControlledProgram(
  script: readonly string[],
  {
    unavailableMessage,
    onOutput,
  }: { unavailableMessage: string; onOutput?: (text: string) => void },
): ControlledProgram {
  const child = spawn("node", script, { stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout });
  let [output, lastLine] = ["", ""];
  lines.on("line", (line) => {
    lastLine = line;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    onOutput?.(text);
  });
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const nextLine = () =>
    new Promise<string>((found, failed) => {
      lines.once("line", found);
      exited.then(() => failed(new Error(`${unavailableMessage}:\n${output}`)));
    });
  const ready = nextLine();
  ready.catch(() => undefined);
  return {
    ready,
    sendCommand: async (command) => {
      const done = nextLine();
      child.stdin.write(`${command}\n`);
      await done;
    },
    end: async () => {
      child.stdin.end();
      return { isSuccess: (await exited) === 0, output, lastLine };
    },
  };
}
