import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/*
 * How long a node of a shared store may continue, for its runners, which have no connection to the
 * store. Times are the machine's uptime in milliseconds, which counts during sleep and cannot be
 * set.
 */

const leaseFileSchema = z.object({
  /**
   * A different term means that other nodes could have taken over in between, so that earlier runs
   * no longer belong to this node.
   */
  term: z.string(),
  until: z.number(),
});
export type LeaseRecord = z.infer<typeof leaseFileSchema>;

/** The lease under which a run was started, and the file that shows whether it may continue. */
export interface RunnerLease {
  file: string;
  term: string;
}

export function leaseFilePath(stateDir: string): string {
  return join(stateDir, "lease");
}

export function uptimeMs(): number {
  return uptime() * 1000;
}

/**
 * Readers see the old lease or the new one. It need not survive a power cut, because runners do not
 * survive one either.
 */
export function writeLease(file: string, lease: LeaseRecord): void {
  const draftFile = `${file}.draft`;
  writeFileSync(draftFile, `${JSON.stringify(lease)}\n`, { mode: 0o600 });
  renameSync(draftFile, file);
}

/** Undefined if there is none, or none that can be read. */
export function readLease(file: string): LeaseRecord | undefined {
  try {
    return leaseFileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** Whether a run of this term may continue. Without a lease it may not. */
export function isLeaseValid(term: string, lease: LeaseRecord | undefined, now: number): boolean {
  // defence: lease-expiry
  return lease !== undefined && /* defence: lease-term */ lease.term === term && now < lease.until;
}
