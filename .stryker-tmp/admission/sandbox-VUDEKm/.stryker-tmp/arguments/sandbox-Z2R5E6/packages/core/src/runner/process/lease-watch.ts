import {
  isLeaseValid,
  type RunnerLease,
  readLease,
  uptimeMs,
} from "../../store/files/lease-file.ts";

const pollIntervalMs = 500;

/**
 * Watches the node's lease file when the store is shared. After the lease expires, another node may
 * take over the job, so the runner must have stopped by then. It only reads the file, because its node
 * may be cut off, paused or dead.
 */
export class LeaseWatch {
  private readonly timer: NodeJS.Timeout | undefined;
  private resolveEnded: () => void = () => undefined;
  /** Resolves when the lease expires; never resolves without a lease. */
  readonly ended = new Promise<void>((resolve) => {
    this.resolveEnded = resolve;
  });

  constructor(lease: RunnerLease | undefined) {
    if (!lease) return;
    this.timer = setInterval(() => this.check(lease), pollIntervalMs);
    this.check(lease);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private check({ file, term }: RunnerLease): void {
    if (isLeaseValid(term, readLease(file), uptimeMs())) return;
    this.stop();
    this.resolveEnded();
  }
}
