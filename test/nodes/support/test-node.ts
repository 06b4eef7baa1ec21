import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FleetControl } from "@herdctl/core";
import type { OwnEnvironment } from "../../support/claude.ts";
import { type FleetProgram, fleetProgram } from "../../support/fleet-program.ts";
import type { WhenOver } from "../../support/folder.ts";
import { processesWith } from "../../support/processes.ts";
import type { Proxy as Wire } from "../../support/proxy.ts";

/** One machine of a fleet, as far as one machine can play several: a home and a state of its own. */
export class TestNode {
  private program: FleetProgram | undefined;

  constructor(
    readonly name: string,
    readonly own: OwnEnvironment,
    readonly file: string,
    /** The wire to the store, if it has one of its own. */
    readonly line: Wire | undefined,
    private readonly whenOver: WhenOver,
    private readonly flags: string[] = [],
  ) {}

  get stateDir(): string {
    return join(dirname(this.file), ".herdctl");
  }

  /** Of the fleet process. */
  private get pid(): number {
    return this.running.pid;
  }

  get control(): FleetControl {
    return this.running.control;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const flags = ["--node-name", this.name, ...this.flags];
    this.program = await fleetProgram({ ...this.own, flags }, this.file, this.whenOver);
  }

  /** It is started until it comes up, as a service manager would. */
  async startAgain(): Promise<void> {
    const deadline = Date.now() + 240_000;
    for (;;) {
      try {
        return await this.start();
      } catch (error) {
        // One that finds the store away does not start.
        if (Date.now() > deadline) throw error;
        await delay(1_000);
      }
    }
  }

  /** Its fleet process dies; its runners do not. */
  async kill(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    await program?.kill();
  }

  /** All that runs on it dies at once, as when the power fails. */
  async powerOff(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    const die = () => this.processes().map((pid) => sendSignal(pid, "SIGKILL"));
    // What one of them started between the look and its death shows at the next look.
    while (die().length > 0) await delay(20);
    await program?.kill();
  }

  /** The fleet process stands still; its runners do not. */
  pause(): void {
    sendSignal(this.pid, "SIGSTOP");
  }

  goOn(): void {
    sendSignal(this.pid, "SIGCONT");
  }

  async stop(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    await program?.stop();
  }

  processes(): number[] {
    return processesWith(`HOME=${this.own.home}\0`);
  }

  private get running(): FleetProgram {
    if (this.program) return this.program;
    throw new Error(`${this.name} does not run`);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It was gone already.
  }
}
