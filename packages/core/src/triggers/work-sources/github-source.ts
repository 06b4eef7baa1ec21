import type { ResolvedAgent } from "@herdctl/config";
import type { Claimant, SourceClaim, WorkItem } from "../../jobs/admission/work-item.ts";
import { GitHubApi } from "./github-api.ts";
import { type ClaimHead, GitHubClaims } from "./github-claims.ts";
import { GitHubIssues } from "./github-issues.ts";
import type {
  ClaimResult,
  ReleaseOptions,
  SettleResult,
  WorkResult,
  WorkSource,
} from "./work-source.ts";

type Config = NonNullable<ResolvedAgent["work_source"]>;

/**
 * Issues of a GitHub repository. The chain of claims decides; labels and comments inform people.
 */
export class GitHubSource implements WorkSource {
  readonly name: string;
  private readonly claims: GitHubClaims;
  private readonly issues: GitHubIssues;

  constructor(
    private readonly config: Config,
    token: string,
    signal?: AbortSignal,
  ) {
    this.name = `github:${config.repo}`;
    const api = new GitHubApi({ baseUrl: config.base_url, token, signal });
    this.claims = new GitHubClaims(api, config.repo);
    this.issues = new GitHubIssues(api, config.repo);
  }

  async listAvailable(limit: number): Promise<WorkItem[]> {
    const items: WorkItem[] = [];
    for await (const item of this.issues.listOpen(this.config.labels)) {
      if (this.hasRequiredLabels(item) && this.isUnclaimed(item)) items.push(item);
      if (items.length === limit) break;
    }
    return items;
  }

  async claim(itemId: string, claimant: Claimant): Promise<ClaimResult> {
    const previous = await this.claims.read(itemId);
    const isOwnClaim = previous?.state === "claimed" && previous.claimId === claimant.claimId;
    if (!isOwnClaim && previous && !this.canTakeOver(previous)) return { kind: "taken" };
    const handle = isOwnClaim
      ? previous.sha
      : await this.claims.appendClaim(itemId, previous, "claimed", claimant);
    if (handle === undefined) return { kind: "taken" };

    // A claimant that finished the issue marked it before releasing it, so this read is not too
    // early.
    const item = await this.issues.getOpen(itemId);
    if (!item || !this.hasRequiredLabels(item) || !(isOwnClaim || this.isUnclaimed(item))) {
      const claim = { ...claimant, item: itemId, handle };
      await (this.isClosedOrDone(item) ? this.finishAndRemove(claim) : this.releaseClaim(claim));
      return { kind: "gone" };
    }
    return { kind: "claimed", handle, item };
  }

  async announce({ item, agent, fleet, claimId }: SourceClaim): Promise<void> {
    await this.issues.addLabel(item, this.config.claimed_label);
    await this.issues.assign(item);
    const text = `\`${agent}\` of the fleet \`${fleet}\` is working on this.`;
    await this.issues.addCommentOnce(item, text, `${claimId} claimed`);
  }

  async renew(claim: SourceClaim) {
    const head = await this.readOwnHead(claim);
    if (head?.state !== "claimed") return { kind: "lost" as const };
    const handle = await this.claims.appendClaim(claim.item, head, "claimed", claim);
    return handle ? { kind: "renewed" as const, handle } : { kind: "lost" as const };
  }

  async complete(claim: SourceClaim, result: WorkResult): Promise<SettleResult> {
    const { item } = claim;
    if (!(await this.appendFinalState(claim, "done")))
      return (await this.isFinished(item)) ? "done" : "lost";
    await this.issues.addCommentOnce(item, resultText(claim, result), `${claim.claimId} done`);
    if (this.config.on_success === "label")
      await this.issues.addLabel(item, this.config.done_label);
    await this.issues.removeLabel(item, this.config.claimed_label);
    if (this.config.on_success === "close") await this.issues.close(item);
    await this.claims.remove(item);
    return "done";
  }

  async release(
    claim: SourceClaim,
    { reason, needsAttention }: ReleaseOptions,
  ): Promise<SettleResult> {
    const { item } = claim;
    const head = await this.readOwnHead(claim);
    if (!head) return "lost";
    if (head.state === "claimed" && reason !== null) {
      // Visible changes come first: after the release, another claimant may set its marks.
      const note = needsAttention
        ? ` A person must look at it (label \`${this.config.failed_label}\`).`
        : "";
      await this.issues.addCommentOnce(item, `${reason}${note}`, `${claim.claimId} released`);
      if (needsAttention) await this.issues.addLabel(item, this.config.failed_label);
      await this.issues.unassign(item);
      await this.issues.removeLabel(item, this.config.claimed_label);
    }
    return this.releaseClaim(claim);
  }

  async releaseStale(): Promise<string[]> {
    const released: string[] = [];
    for (const item of await this.claims.listClaimedItems()) {
      const head = await this.claims.read(item);
      if (!head || head.state === "released" || !this.isStaleClaim(head)) continue;
      const claimant = { claimId: head.claimId, fleet: "stale", agent: "stale" };
      // Claimed by the releaser, so that no other claimant takes the item while its marks are
      // removed.
      const staleReleaser = { ...claimant, claimId: `stale-${head.sha}` };
      const handle = await this.claims.appendClaim(item, head, "claimed", staleReleaser);
      if (handle === undefined) continue;
      const reason =
        "The claim on this issue was not renewed in time. The issue is available again.";
      await this.release({ ...staleReleaser, item, handle }, { reason, needsAttention: false });
      released.push(item);
    }
    return released;
  }

  /** The chain of a finished item is removed last. */
  private async isFinished(itemId: string): Promise<boolean> {
    if (await this.claims.read(itemId)) return false;
    return this.isClosedOrDone(await this.issues.getOpen(itemId));
  }

  private isClosedOrDone(item: WorkItem | undefined): boolean {
    return !item || item.labels.includes(this.config.done_label);
  }

  /** No claim follows a finished item, so its chain can be removed safely. */
  private async finishAndRemove(claim: SourceClaim): Promise<void> {
    if (await this.appendFinalState(claim, "done")) await this.claims.remove(claim.item);
  }

  private hasRequiredLabels({ labels }: WorkItem): boolean {
    const { labels: required, exclude_labels: excluded } = this.config;
    const hasExcluded = excluded.some((label) => labels.includes(label));
    return !hasExcluded && required.every((label) => labels.includes(label));
  }

  /** Whether the labels show that the item is neither done nor claimed. */
  private isUnclaimed({ labels }: WorkItem): boolean {
    const { claimed_label, done_label, failed_label } = this.config;
    return ![claimed_label, done_label, failed_label].some((label) => labels.includes(label));
  }

  private canTakeOver(head: ClaimHead): boolean {
    return head.state === "released" || this.isStaleClaim(head);
  }

  private isStaleClaim({ ageMs }: ClaimHead): boolean {
    return ageMs > this.config.stale_after;
  }

  /** The head of the chain, if it belongs to this claim. */
  private async readOwnHead({ item, claimId }: SourceClaim): Promise<ClaimHead | undefined> {
    const head = await this.claims.read(item);
    return head?.claimId === claimId ? head : undefined;
  }

  /** Appends the final state; also true if it is already there. */
  private async appendFinalState(claim: SourceClaim, state: "released" | "done"): Promise<boolean> {
    const head = await this.readOwnHead(claim);
    if (!head) return false;
    if (head.state === state) return true;
    if (head.state !== "claimed") return false;
    return (await this.claims.appendClaim(claim.item, head, state, claim)) !== undefined;
  }

  private async releaseClaim(claim: SourceClaim): Promise<SettleResult> {
    return (await this.appendFinalState(claim, "released")) ? "done" : "lost";
  }
}

const maxSummaryChars = 20_000;

function resultText({ agent }: SourceClaim, { jobId, summary, costUsd }: WorkResult): string {
  const cost = costUsd === null ? "" : ` ($${costUsd.toFixed(2)})`;
  const summaryText = summary.slice(0, maxSummaryChars).replaceAll("@", "@\u200b");
  return `Done by \`${agent}\` in ${jobId}${cost}.\n\n${summaryText}`.trim();
}
