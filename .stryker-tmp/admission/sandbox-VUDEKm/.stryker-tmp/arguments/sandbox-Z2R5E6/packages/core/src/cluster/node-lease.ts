import {
  leaseFilePath,
  type RunnerLease,
  readLease,
  uptimeMs,
  writeLease,
} from "../store/files/lease-file.ts";
import { leaseDurationMs } from "../store/model/lease-terms.ts";

/** The lease of this node, kept in a file for its runners. */
export class NodeLease {
  private readonly file: string;
  private term = "";
  private until = 0;

  constructor(stateDir: string) {
    this.file = leaseFilePath(stateDir);
  }

  /** The lease for runners that start now. */
  get runnerLease(): RunnerLease {
    return { file: this.file, term: this.term };
  }

  get isHeld(): boolean {
    return uptimeMs() < this.until;
  }

  /**
   * Called after a join. If the node was not declared lost since its last run, the jobs of its
   * earlier process continue, so the term stays the same.
   */
  acquire(newTerm: string, sentAt: number, wasNeverLost: boolean): void {
    this.term = (wasNeverLost ? readLease(this.file)?.term : undefined) ?? newTerm;
    this.until = 0;
    this.renew(sentAt);
  }

  /** The lease counts from the time of the request, whenever the answer arrived. */
  renew(sentAt: number): void {
    this.until = Math.max(this.until, sentAt + leaseDurationMs);
    writeLease(this.file, { term: this.term, until: this.until });
  }

  /** Ends the lease immediately, and with it everything that runs on this node. */
  release(): void {
    this.until = 0;
    writeLease(this.file, { term: this.term, until: 0 });
  }
}
