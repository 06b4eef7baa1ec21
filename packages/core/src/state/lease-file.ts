import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/*
 * How long a node of a shared store may go on, for its runners, which hear nothing of the store.
 * Times are the uptime of the machine in milliseconds: it counts while the machine sleeps, and
 * nobody sets it.
 */

const leaseFileSchema = z.object({
  /**
   * Another one says that there was a time in which others could take over, so that what was begun
   * before is nobody's any more.
   */
  term: z.string(),
  until: z.number(),
});
export type NodeLease = z.infer<typeof leaseFileSchema>;

/** The lease under which something was begun, and where to look whether it goes on. */
export interface RunnerLease {
  file: string;
  term: string;
}

export function leaseFilePath(stateDir: string): string {
  return join(stateDir, "lease");
}

export function machineTime(): number {
  return uptime() * 1000;
}

/** Whoever reads sees the old one or the new. It need not outlive a power cut, for no runner does. */
export function writeLease(file: string, lease: NodeLease): void {
  const draft = `${file}.draft`;
  writeFileSync(draft, `${JSON.stringify(lease)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Undefined when there is none, or none that can be read. */
export function readLease(file: string): NodeLease | undefined {
  try {
    return leaseFileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** Whether something that was begun in this term may go on. Without a lease nothing may. */
export function isWithin(term: string, lease: NodeLease | undefined, now: number): boolean {
  return lease !== undefined && lease.term === term && now < lease.until;
}
