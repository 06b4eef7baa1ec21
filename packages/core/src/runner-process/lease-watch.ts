import { isWithin, machineTime, type RunnerLease, readLease } from "../state/lease-file.ts";

const lookEvery = 500;

/**
 * What a runner of a shared store goes by: once its node's lease has ended, others may take over its
 * job, so it must have stopped by then. It asks nobody, since its node may be cut off, paused or dead.
 */
export class LeaseWatch {
  private readonly timer: NodeJS.Timeout | undefined;
  private end: () => void = () => undefined;
  /** Resolves when the lease is over; never without one. */
  readonly ended = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  constructor(lease: RunnerLease | undefined) {
    if (!lease) return;
    this.timer = setInterval(() => this.look(lease), lookEvery);
    this.look(lease);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look({ file, term }: RunnerLease): void {
    if (isWithin(term, readLease(file), machineTime())) return;
    this.stop();
    this.end();
  }
}
