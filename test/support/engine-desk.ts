import { spawn } from "node:child_process";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const program = resolve(import.meta.dirname, "../../scripts/engine.mjs");

/**
 * One Docker engine for the whole run, in the process that outlives all test files. It is started
 * when the first test asks on the socket; a run without such tests never has one.
 */
export class EngineDesk {
  private readonly server: Server;
  private engine: RunningEngine | undefined;

  constructor(folder: string) {
    this.server = createServer(async (socket) => {
      socket.on("error", () => undefined);
      this.engine ??= startEngine();
      const answer = await this.engine.ready.catch((error: Error) =>
        JSON.stringify({ error: error.message }),
      );
      socket.end(`${answer}\n`);
    });
    this.server.listen(deskSocket(folder));
  }

  /** Ends the engine; what is returned are the containers that tests left in it. */
  async close(): Promise<string[]> {
    await new Promise((done) => this.server.close(done));
    return (await this.engine?.stop()) ?? [];
  }
}

export function deskSocket(folder: string): string {
  return join(folder, "engine-desk.sock");
}

interface RunningEngine {
  /** The line that says where it is. */
  ready: Promise<string>;
  stop(): Promise<string[]>;
}

function startEngine(): RunningEngine {
  const child = spawn("node", [program], { stdio: ["pipe", "pipe", "pipe"] });
  const lines: string[] = [];
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    process.stdout.write(text);
  });
  const gone = new Promise((done) => child.once("close", done));
  const ready = new Promise<string>((found, failed) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      found(line);
    });
    gone.then(() => failed(new Error(`there is no Docker engine for the tests:\n${said}`)));
  });
  const stop = async () => {
    child.stdin.end();
    await gone;
    const last = JSON.parse(lines.at(-1) ?? "{}");
    return (last.left ?? []).map((name: string) => `container ${name}`);
  };
  return { ready, stop };
}
