import type { Claimant, SourceClaim, WorkItem } from "../../jobs/admission/work-item.ts";

export type ClaimResult =
  | { kind: "claimed"; handle: string; item: WorkItem }
  /** Another claimant has it. */
  | { kind: "taken" }
  /** It is done, closed, or no longer wanted. */
  | { kind: "gone" };

export interface WorkResult {
  jobId: string;
  summary: string;
  costUsd: number | null;
}

export interface ReleaseOptions {
  /** Shown to people; null if the claim was never announced. */
  reason: string | null;
  /** The item must not be claimed again before a person has looked at it. */
  needsAttention: boolean;
}

/** `lost`: another claimant has the item now, and nothing was changed. */
export type SettleResult = "done" | "lost";

/**
 * A source of work items. Only one fleet at a time gets a claim on an item. Every call is
 * idempotent.
 */
export interface WorkSource {
  /** Type and location of the source, such as `github:owner/name`. */
  readonly name: string;
  /** Open unclaimed items, oldest first. */
  listAvailable(limit: number): Promise<WorkItem[]>;
  /** Decides between all claimants. The claim is not visible before `announce`. */
  claim(itemId: string, claimant: Claimant): Promise<ClaimResult>;
  /** Shows people who works on the item. */
  announce(claim: SourceClaim): Promise<void>;
  /** Renews the claim, so that it does not become stale. */
  renew(claim: SourceClaim): Promise<{ kind: "renewed"; handle: string } | { kind: "lost" }>;
  complete(claim: SourceClaim, result: WorkResult): Promise<SettleResult>;
  release(claim: SourceClaim, release: ReleaseOptions): Promise<SettleResult>;
  /** Releases claims that were not renewed in time, and returns their items. */
  releaseStale(): Promise<string[]>;
}
