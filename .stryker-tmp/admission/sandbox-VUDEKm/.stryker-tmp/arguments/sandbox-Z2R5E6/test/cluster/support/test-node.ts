import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FleetControl } from "@herdctl/protocol";
import type { IsolatedEnvironment } from "../../support/claude-binaries.ts";
import { type FleetProcess, startFleetProcess } from "../../support/fleet-child-process.ts";
import { processesWithMarker } from "../../support/processes-with-marker.ts";
import type { TcpProxy as Wire } from "../../support/tcp-proxy.ts";
import type { RegisterCleanup } from "../../support/temp-folder.ts";

/** A simulated machine of a fleet, with a separate home and state directory. */
export class TestNode {
  private fleetProcess: FleetProcess | undefined;

  constructor(
    readonly name: string,
    readonly isolated: IsolatedEnvironment,
    readonly file: string,
    /** The proxied connection to the store, if the node has one. */
    readonly proxy: Wire | undefined,
    private readonly onCleanup: RegisterCleanup,
    private readonly flags: string[] = [],
  ) {}

  get stateDir(): string {
    return join(dirname(this.file), ".herdctl");
  }

  /** Pid of the fleet process. */
  private get pid(): number {
    return this.running.pid;
  }

  get control(): FleetControl {
    return this.running.control;
  }

  /** Resolves when the fleet answers. */
  async start(): Promise<void> {
    const flags = ["--node-name", this.name, ...this.flags];
    this.fleetProcess = await startFleetProcess(
      { ...this.isolated, flags },
      this.file,
      this.onCleanup,
    );
  }

  /** Repeats the start until the fleet answers, as a service manager would. */
  async startUntilUp(): Promise<void> {
    const deadline = Date.now() + 240_000;
    for (;;) {
      try {
        return await this.start();
      } catch (error) {
        // A node does not start while the store is unavailable.
        if (Date.now() > deadline) throw error;
        await delay(1_000);
      }
    }
  }

  /** Kills the fleet process but not its runners. */
  async kill(): Promise<void> {
    const { fleetProcess } = this;
    this.fleetProcess = undefined;
    await fleetProcess?.kill();
  }

  /** Kills everything on the node, like a power failure. */
  async powerOff(): Promise<void> {
    const { fleetProcess } = this;
    this.fleetProcess = undefined;
    const die = () => this.processes().map((pid) => sendSignal(pid, "SIGKILL"));
    // Processes that were started during the loop are killed in the next iteration.
    while (die().length > 0) await delay(20);
    await fleetProcess?.kill();
  }

  /** Stops the fleet process with a signal, but not its runners. */
  pause(): void {
    sendSignal(this.pid, "SIGSTOP");
  }

  resume(): void {
    sendSignal(this.pid, "SIGCONT");
  }

  async stop(): Promise<void> {
    const { fleetProcess } = this;
    this.fleetProcess = undefined;
    await fleetProcess?.stop();
  }

  processes(): number[] {
    return processesWithMarker(`HOME=${this.isolated.home}\0`);
  }

  private get running(): FleetProcess {
    if (this.fleetProcess) return this.fleetProcess;
    throw new Error(`${this.name} does not run`);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited already.
  }
}
