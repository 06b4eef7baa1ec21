import type { ProcessIdentity } from "./process-identity.ts";
import type { Lease, LeaseAnswer, LeaseHolder } from "./session.ts";

/** Whether someone may become the one writer of a session. */
export function decideLease(
  current: Lease | undefined,
  wanted: LeaseHolder,
  now: Date,
  isAlive: (process: ProcessIdentity) => boolean,
): LeaseAnswer {
  if (current === undefined || isSameHolder(current.holder, wanted)) return { granted: true };
  if (Date.parse(current.until) <= now.getTime()) return { granted: true };
  if (!isAlive(current.holder)) return { granted: true };
  return { granted: false, ...current };
}

export function isSameHolder(a: LeaseHolder, b: LeaseHolder): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.boot_id === b.boot_id &&
    a.job_id === b.job_id
  );
}
