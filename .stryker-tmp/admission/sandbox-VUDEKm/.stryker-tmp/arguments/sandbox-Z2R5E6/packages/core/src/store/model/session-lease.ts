import type {
  ProcessIdentity,
  SessionLease,
  SessionLeaseHolder,
  SessionLeaseResult,
} from "@herdctl/protocol";

/** Checks whether processes and nodes are live. */
export interface Liveness {
  /** Used only for processes of this node. */
  isAlive(process: ProcessIdentity): boolean;
  isNodeGone(node: string): boolean;
}

/** Whether the requester may become the only writer of a session. */
export function decideLease(
  current: SessionLease | undefined,
  requester: SessionLeaseHolder,
  now: Date,
  liveness: Liveness,
): SessionLeaseResult {
  if (current === undefined || isSameHolder(current.holder, requester)) return { granted: true };
  if (Date.parse(current.until) <= now.getTime()) return { granted: true };
  if (isGone(current.holder, nodeOf(requester), liveness)) return { granted: true };
  return { granted: false, ...current };
}

export function isSameHolder(a: SessionLeaseHolder, b: SessionLeaseHolder): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.boot_id === b.boot_id &&
    a.job_id === b.job_id &&
    nodeOf(a) === nodeOf(b)
  );
}

/** Processes of other nodes cannot be checked from here. */
function isGone(holder: SessionLeaseHolder, localNode: string | null, liveness: Liveness): boolean {
  const node = nodeOf(holder);
  if (node === localNode) return !liveness.isAlive(holder);
  return node !== null && liveness.isNodeGone(node);
}

function nodeOf({ node }: SessionLeaseHolder): string | null {
  return node ?? null;
}
