/** Something to be done that is kept elsewhere. Every text in it is a stranger's. */
export interface WorkItem {
  /** What the source knows it by. */
  id: string;
  title: string;
  body: string;
  url: string | null;
  author: string | null;
  labels: string[];
}

/** Who wants it. The id is chosen and on record before the source is asked. */
export interface Claimant {
  claimId: string;
  fleet: string;
  agent: string;
}

/** A claim as the source knows it. */
export interface Claim extends Claimant {
  item: string;
  /** Changes with each renewal; null when nobody knows whether the claim was ever made. */
  handle: string | null;
}

export type ClaimAnswer =
  | { kind: "claimed"; handle: string; item: WorkItem }
  /** Somebody else has it. */
  | { kind: "taken" }
  /** It is done, closed, or no longer wanted. */
  | { kind: "gone" };

export interface WorkResult {
  jobId: string;
  summary: string;
  costUsd: number | null;
}

export interface Release {
  /** What people are told; null when they were never told that it is worked on. */
  why: string | null;
  /** It is not to be taken again until a person has looked at it. */
  setAside: boolean;
}

/** `lost` says that the claim is somebody else's by now; then nothing was changed. */
export type Settled = "done" | "lost";

/**
 * Where work is found. However many fleets ask, one of them gets a claim on an item. Every call can
 * be made again with the same arguments and changes nothing the second time.
 */
export interface WorkSource {
  /** Names source and place, such as `github:owner/name`. */
  readonly name: string;
  /** Open items that nobody has, the oldest first. */
  find(limit: number): Promise<WorkItem[]>;
  /** Decides between all who ask; it is seen by nobody before it is announced. */
  claim(itemId: string, claimant: Claimant): Promise<ClaimAnswer>;
  /** Lets people see who works on it. */
  announce(claim: Claim): Promise<void>;
  /** Says that it is still worked on: what is renewed does not become stale. */
  renew(claim: Claim): Promise<{ kind: "renewed"; handle: string } | { kind: "lost" }>;
  complete(claim: Claim, result: WorkResult): Promise<Settled>;
  release(claim: Claim, release: Release): Promise<Settled>;
  /** Releases claims that nobody renewed for too long, and says of which items. */
  stale(): Promise<string[]>;
}
