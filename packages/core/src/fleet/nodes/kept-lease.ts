import {
  leaseFilePath,
  machineTime,
  type RunnerLease,
  readLease,
  writeLease,
} from "../../state/lease-file.ts";
import { leaseFor } from "../../state/node-terms.ts";

/** The lease of this node, kept in a file for its runners. */
export class KeptLease {
  private readonly file: string;
  private term = "";
  private until = 0;

  constructor(stateDir: string) {
    this.file = leaseFilePath(stateDir);
  }

  /** For what is begun now. */
  get forRunner(): RunnerLease {
    return { file: this.file, term: this.term };
  }

  get lives(): boolean {
    return machineTime() < this.until;
  }

  /**
   * After a join. Where nobody has called the node lost since it was here last, what an earlier
   * process of it left running goes on: the term stays.
   */
  begin(name: string, sentAt: number, unbroken: boolean): void {
    this.term = (unbroken ? readLease(this.file)?.term : undefined) ?? name;
    this.until = 0;
    this.renew(sentAt);
  }

  /** Counted from before the question, whenever the answer came. */
  renew(sentAt: number): void {
    this.until = Math.max(this.until, sentAt + leaseFor);
    writeLease(this.file, { term: this.term, until: this.until });
  }

  /** At once: nothing of this node goes on. */
  end(): void {
    this.until = 0;
    writeLease(this.file, { term: this.term, until: 0 });
  }
}
