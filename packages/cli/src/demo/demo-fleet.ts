import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Rehearsal, startRehearsal } from "@herdctl/rehearsal";
import type { Call } from "../command.ts";

const assets = fileURLToPath(new URL("../demo/", import.meta.url));
const [lookEvery, patience] = [50, 30_000];

/** What the demo reads of a job's record. */
export interface DemoJob {
  id: string;
  agent: string;
  status: string;
  attempts: number;
  cost_usd: number | null;
  finished_at: string | null;
  outcome: { code: string; message: string; hint: string } | null;
}

/** The fleet of the demo, in a temp folder and with a model of its own; steered by this same program. */
export class DemoFleet {
  private readonly temp = mkdtempSync(join(tmpdir(), "herdctl-demo-"));
  private readonly folder = join(this.temp, "fleet");
  private readonly running = new Set<ChildProcess>();
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly call: Pick<Call, "env" | "terminal">,
    private readonly rehearsal: Rehearsal,
    private readonly stopped: AbortSignal,
  ) {
    cpSync(assets, this.folder, { recursive: true });
    for (const name of ["home", "tmp"]) mkdirSync(join(this.temp, name));
  }

  static async open(
    call: Pick<Call, "env" | "terminal">,
    stopped: AbortSignal,
  ): Promise<DemoFleet> {
    const rehearsal = await startRehearsal({ script: join(assets, "model.yaml") });
    return new DemoFleet(call, rehearsal, stopped);
  }

  async start(): Promise<ChildProcess> {
    const child = this.herdctl(["start"], "shown", this.withoutFooter());
    while ((await exitOf(this.herdctl(["status", "--json"], "ignored"))) !== 0) {
      this.stopped.throwIfAborted();
      await pause(lookEvery);
    }
    return child;
  }

  async finished(count: number): Promise<DemoJob[]> {
    for (;;) {
      const { jobs }: { jobs: DemoJob[] } = JSON.parse(await this.ask("jobs"));
      const over = jobs.filter((job) => job.finished_at !== null);
      if (over.length === count) return over;
      await pause(4 * lookEvery, undefined, { signal: this.stopped });
    }
  }

  /** Runs a command for people to see. */
  async show(...args: string[]): Promise<void> {
    await this.run(args, this.herdctl(args, "shown"));
  }

  /** Runs a command for its JSON. */
  async ask(...args: string[]): Promise<string> {
    const child = this.herdctl([...args, "--json"], "read");
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (data: string) => {
      text += data;
    });
    await this.run(args, child);
    return text;
  }

  file(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** Ends it once, however often it is asked. */
  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  private async end(): Promise<void> {
    await this.stop();
    for (const child of this.running) child.kill("SIGKILL");
    await this.rehearsal.stop();
    rmSync(this.temp, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A fleet that has only just been started must be up before it can be told to stop. */
  private async stop(): Promise<void> {
    const deadline = Date.now() + patience;
    while (this.running.size > 0 && Date.now() < deadline) {
      if ((await exitOf(this.herdctl(["stop", "--now"], "ignored"))) === 0) return;
      await pause(lookEvery);
    }
  }

  private async run(args: string[], child: ChildProcess): Promise<void> {
    const code = await exitOf(child);
    if (code !== 0) throw new Error(`herdctl ${args.join(" ")} ended with ${code}`);
  }

  /** In colour at a terminal, but no line at its foot: the demo writes there as well. */
  private withoutFooter(): NodeJS.ProcessEnv {
    return this.call.terminal.live ? { TERM: "dumb", FORCE_COLOR: "1" } : {};
  }

  private herdctl(
    args: string[],
    output: "shown" | "read" | "ignored",
    look: NodeJS.ProcessEnv = {},
  ): ChildProcess {
    const shown = this.call.terminal.json ? "ignore" : "inherit";
    const stdout = { shown, read: "pipe", ignored: "ignore" } as const;
    const child = spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd: this.folder,
      env: { ...this.environment(), ...look },
      stdio: ["ignore", stdout[output], output === "ignored" ? "ignore" : "inherit"],
    });
    this.running.add(child);
    child.once("close", () => this.running.delete(child));
    return child;
  }

  /** Nothing of this person's but the terminal and the programs. */
  private environment(): NodeJS.ProcessEnv {
    const { TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR, PATH = "" } = this.call.env;
    return {
      ...{ TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR },
      PATH: PATH.split(delimiter).filter(isNoProjects).join(delimiter),
      HOME: join(this.temp, "home"),
      TMPDIR: join(this.temp, "tmp"),
      IS_SANDBOX: "1",
      ...this.rehearsal.env(),
    };
  }
}

/** npm puts the tools of the project it stands in on the PATH; a `claude` among them is not a person's. */
function isNoProjects(folder: string): boolean {
  return basename(folder) !== ".bin" || basename(dirname(folder)) !== "node_modules";
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((done) =>
    child.once("error", () => done(1)).once("close", (code) => done(code)),
  );
}
