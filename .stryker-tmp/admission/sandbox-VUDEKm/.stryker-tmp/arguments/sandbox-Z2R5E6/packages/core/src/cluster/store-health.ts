import { uptimeMs } from "../store/files/lease-file.ts";
import { lostAfterMs } from "../store/model/lease-terms.ts";
import { canDeclareLost, heartbeatIntervalMs, silentAfterMs } from "./lease-policy.ts";

/** Tracks whether this node reaches the store, since when, and what it reported to its peers. */
export class StoreHealth {
  private lastReplyAt = 0;
  private reachableSince: number | undefined;
  private reportedAwayAt: number | undefined;
  private lastFailure: string | undefined;

  get isReachable(): boolean {
    return this.lastFailure === undefined && this.msSinceReply <= silentAfterMs;
  }

  /** Time since the request that the store answered last. */
  get msSinceReply(): number {
    return uptimeMs() - this.lastReplyAt;
  }

  get failureReason(): string {
    return this.lastFailure ?? "it does not respond";
  }

  /** The store has answered a request of that time. Returns true if it was unavailable before. */
  recordSuccess(sentAt: number): boolean {
    const wasUnreachable =
      this.lastFailure !== undefined ||
      sentAt - this.lastReplyAt > silentAfterMs + heartbeatIntervalMs;
    const isNew = wasUnreachable || this.reachableSince === undefined;
    if (isNew) this.reachableSince = uptimeMs();
    this.lastFailure = undefined;
    this.lastReplyAt = sentAt;
    return isNew;
  }

  recordFailure(reason?: string): void {
    this.lastFailure = reason ?? this.lastFailure;
    this.reachableSince = undefined;
  }

  /** A peer may rely on a report that the store is unavailable for a while. */
  reportToPeer(): boolean {
    const { isReachable } = this;
    if (!isReachable) this.reportedAwayAt = uptimeMs();
    return isReachable;
  }

  /** This node has reached the store long enough to judge others by their heartbeats. */
  get canDeclareOthersLost(): boolean {
    const { reachableSince, reportedAwayAt } = this;
    return canDeclareLost({
      now: uptimeMs(),
      reachableSince,
      reportedAwayAt,
      graceMs: lostAfterMs,
    });
  }
}
