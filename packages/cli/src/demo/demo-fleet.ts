import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Rehearsal, startRehearsal } from "@herdctl/rehearsal";
import type { CommandContext } from "../command.ts";

const assetsDir = fileURLToPath(new URL("../demo/", import.meta.url));
const [pollIntervalMs, stopTimeoutMs] = [50, 30_000];

/** The fields of a job record that the demo reads. */
export interface DemoJob {
  id: string;
  agent: string;
  status: string;
  attempts: number;
  cost_usd: number | null;
  finished_at: string | null;
  outcome: { code: string; message: string; hint: string } | null;
}

/** The fleet of the demo: in a temp folder, with a scripted model, controlled by herdctl commands. */
export class DemoFleet {
  private readonly temp = mkdtempSync(join(tmpdir(), "herdctl-demo-"));
  private readonly folder = join(this.temp, "fleet");
  private readonly running = new Set<ChildProcess>();
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly context: Pick<CommandContext, "env" | "terminal">,
    private readonly rehearsal: Rehearsal,
    private readonly stopSignal: AbortSignal,
  ) {
    cpSync(assetsDir, this.folder, { recursive: true });
    for (const name of ["home", "tmp"]) mkdirSync(join(this.temp, name));
  }

  static async open(
    context: Pick<CommandContext, "env" | "terminal">,
    stopSignal: AbortSignal,
  ): Promise<DemoFleet> {
    const rehearsal = await startRehearsal({ script: join(assetsDir, "model.yaml") });
    return new DemoFleet(context, rehearsal, stopSignal);
  }

  async start(): Promise<ChildProcess> {
    const child = this.herdctl(["start"], "shown", this.footerlessEnv());
    while ((await waitForExit(this.herdctl(["status", "--json"], "ignored"))) !== 0) {
      this.stopSignal.throwIfAborted();
      await pause(pollIntervalMs);
    }
    return child;
  }

  async waitForFinishedJobs(count: number): Promise<DemoJob[]> {
    for (;;) {
      const { jobs }: { jobs: DemoJob[] } = JSON.parse(await this.runForJson("jobs"));
      const finishedJobs = jobs.filter((job) => job.finished_at !== null);
      if (finishedJobs.length === count) return finishedJobs;
      await pause(4 * pollIntervalMs, undefined, { signal: this.stopSignal });
    }
  }

  /** Runs a command and shows its output. */
  async runVisible(...args: string[]): Promise<void> {
    await this.run(args, this.herdctl(args, "shown"));
  }

  /** Runs a command and returns its JSON output. */
  async runForJson(...args: string[]): Promise<string> {
    const child = this.herdctl([...args, "--json"], "read");
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (data: string) => {
      text += data;
    });
    await this.run(args, child);
    return text;
  }

  readFile(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** A command that works as long as the demo runs, in any folder. */
  resumeCommand({ agent, id }: Pick<DemoJob, "agent" | "id">): string {
    const own = process.argv[1] ?? "";
    const isInstalled = !own.includes("/packages/cli/dist/") && !own.includes("/_npx/");
    const program = isInstalled ? "herdctl" : join(dirname(own), "../../../bin/herdctl");
    return `${program} trigger ${agent} --resume ${id} -p "…" -c ${this.folder}`;
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await this.stop();
    for (const child of this.running) child.kill("SIGKILL");
    await this.rehearsal.stop();
    rmSync(this.temp, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Retries, because a fleet that is still starting cannot be stopped yet. */
  private async stop(): Promise<void> {
    const deadline = Date.now() + stopTimeoutMs;
    while (this.running.size > 0 && Date.now() < deadline) {
      if ((await waitForExit(this.herdctl(["stop", "--now"], "ignored"))) === 0) return;
      await pause(pollIntervalMs);
    }
  }

  private async run(args: string[], child: ChildProcess): Promise<void> {
    const code = await waitForExit(child);
    if (code !== 0) throw new Error(`herdctl ${args.join(" ")} ended with ${code}`);
  }

  /** Colours but no footer line, which would collide with the output of the demo. */
  private footerlessEnv(): NodeJS.ProcessEnv {
    return this.context.terminal.canRedraw ? { TERM: "dumb", FORCE_COLOR: "1" } : {};
  }

  private herdctl(
    args: string[],
    output: "shown" | "read" | "ignored",
    envOverrides: NodeJS.ProcessEnv = {},
  ): ChildProcess {
    const shown = this.context.terminal.isJson ? "ignore" : "inherit";
    const stdout = { shown, read: "pipe", ignored: "ignore" } as const;
    const child = spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd: this.folder,
      env: { ...this.environment(), ...envOverrides },
      stdio: ["ignore", stdout[output], output === "ignored" ? "ignore" : "inherit"],
    });
    this.running.add(child);
    child.once("close", () => this.running.delete(child));
    return child;
  }

  /** Passes on only the terminal settings and the PATH of the user. */
  private environment(): NodeJS.ProcessEnv {
    const { TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR, PATH = "" } = this.context.env;
    return {
      ...{ TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR },
      PATH: PATH.split(delimiter).filter(isNotProjectBin).join(delimiter),
      HOME: join(this.temp, "home"),
      TMPDIR: join(this.temp, "tmp"),
      IS_SANDBOX: "1",
      ...this.rehearsal.env(),
    };
  }
}

/** npm adds the tools of the current project to the PATH, and its `claude` is not the user's. */
function isNotProjectBin(folder: string): boolean {
  return basename(folder) !== ".bin" || basename(dirname(folder)) !== "node_modules";
}

function waitForExit(child: ChildProcess): Promise<number | null> {
  return new Promise((done) =>
    child.once("error", () => done(1)).once("close", (code) => done(code)),
  );
}
