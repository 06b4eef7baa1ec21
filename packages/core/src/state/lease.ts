import type { ProcessIdentity } from "./process-identity.ts";
import type { Lease, LeaseAnswer, LeaseHolder } from "./session.ts";

/** Who is still there. */
export interface Liveness {
  /** Asked of processes of this node only. */
  isAlive(process: ProcessIdentity): boolean;
  isNodeGone(node: string): boolean;
}

/** Whether someone may become the one writer of a session. */
export function decideLease(
  current: Lease | undefined,
  wanted: LeaseHolder,
  now: Date,
  liveness: Liveness,
): LeaseAnswer {
  if (current === undefined || isSameHolder(current.holder, wanted)) return { granted: true };
  if (Date.parse(current.until) <= now.getTime()) return { granted: true };
  if (isGone(current.holder, nodeOf(wanted), liveness)) return { granted: true };
  return { granted: false, ...current };
}

export function isSameHolder(a: LeaseHolder, b: LeaseHolder): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.boot_id === b.boot_id &&
    a.job_id === b.job_id &&
    nodeOf(a) === nodeOf(b)
  );
}

/** Whether a process of another node lives cannot be seen from here. */
function isGone(holder: LeaseHolder, ours: string | null, liveness: Liveness): boolean {
  const node = nodeOf(holder);
  if (node === ours) return !liveness.isAlive(holder);
  return node !== null && liveness.isNodeGone(node);
}

function nodeOf({ node }: LeaseHolder): string | null {
  return node ?? null;
}
