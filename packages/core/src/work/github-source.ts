import type { ResolvedAgent } from "../config/resolve.ts";
import { GitHubApi } from "./github-api.ts";
import { GitHubClaims, type Standing } from "./github-claims.ts";
import { GitHubIssues } from "./github-issues.ts";
import type {
  Claim,
  ClaimAnswer,
  Claimant,
  Release,
  Settled,
  WorkItem,
  WorkResult,
  WorkSource,
} from "./work-source.ts";

type Config = NonNullable<ResolvedAgent["work_source"]>;

/** Issues of a repository on GitHub. The chain of claims decides; labels and comments tell people. */
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

  async find(limit: number): Promise<WorkItem[]> {
    const found: WorkItem[] = [];
    for await (const item of this.issues.open(this.config.labels)) {
      if (this.isFree(item)) found.push(item);
      if (found.length === limit) break;
    }
    return found;
  }

  async claim(itemId: string, claimant: Claimant): Promise<ClaimAnswer> {
    const before = await this.claims.read(itemId);
    const isOurs = before?.state === "claimed" && before.claimId === claimant.claimId;
    if (!isOurs && before && !this.mayFollow(before)) return { kind: "taken" };
    const handle = isOurs ? before.sha : await this.claims.add(itemId, before, "claimed", claimant);
    if (handle === undefined) return { kind: "taken" };

    // Whoever finished it marked the issue before letting go of it, so this look cannot come early.
    const item = await this.issues.get(itemId);
    if (!item || !this.isWanted(item) || !(isOurs || this.isFree(item))) {
      const claim = { ...claimant, item: itemId, handle };
      await (this.isOver(item) ? this.clear(claim) : this.letGo(claim));
      return { kind: "gone" };
    }
    return { kind: "claimed", handle, item };
  }

  async announce({ item, agent, fleet, claimId }: Claim): Promise<void> {
    await this.issues.label(item, this.config.claimed_label);
    await this.issues.assign(item);
    const text = `\`${agent}\` of the fleet \`${fleet}\` works on this now.`;
    await this.issues.comment(item, text, `${claimId} claimed`);
  }

  async renew(claim: Claim) {
    const standing = await this.own(claim);
    if (standing?.state !== "claimed") return { kind: "lost" as const };
    const handle = await this.claims.add(claim.item, standing, "claimed", claim);
    return handle ? { kind: "renewed" as const, handle } : { kind: "lost" as const };
  }

  async complete(claim: Claim, result: WorkResult): Promise<Settled> {
    const { item } = claim;
    if (!(await this.end(claim, "done"))) return (await this.isFinished(item)) ? "done" : "lost";
    await this.issues.comment(item, resultText(claim, result), `${claim.claimId} done`);
    if (this.config.on_success === "label") await this.issues.label(item, this.config.done_label);
    await this.issues.unlabel(item, this.config.claimed_label);
    if (this.config.on_success === "close") await this.issues.close(item);
    await this.claims.remove(item);
    return "done";
  }

  async release(claim: Claim, { why, setAside }: Release): Promise<Settled> {
    const { item } = claim;
    const standing = await this.own(claim);
    if (!standing) return "lost";
    if (standing.state === "claimed" && why !== null) {
      // First what people see: once it is let go, somebody else may have put his own there.
      const note = setAside ? ` A person has to look at it: \`${this.config.failed_label}\`.` : "";
      await this.issues.comment(item, `${why}${note}`, `${claim.claimId} released`);
      if (setAside) await this.issues.label(item, this.config.failed_label);
      await this.issues.unassign(item);
      await this.issues.unlabel(item, this.config.claimed_label);
    }
    return this.letGo(claim);
  }

  async stale(): Promise<string[]> {
    const released: string[] = [];
    for (const item of await this.claims.items()) {
      const standing = await this.claims.read(item);
      if (!standing || standing.state === "released" || !this.isStale(standing)) continue;
      const claimant = { claimId: standing.claimId, fleet: "stale", agent: "stale" };
      // Held anew by the one who looks, so that nobody takes it while its marks are taken off.
      const keeper = { ...claimant, claimId: `stale-${standing.sha}` };
      const handle = await this.claims.add(item, standing, "claimed", keeper);
      if (handle === undefined) continue;
      const why = "Nobody was heard of this for too long; it is free again.";
      await this.release({ ...keeper, item, handle }, { why, setAside: false });
      released.push(item);
    }
    return released;
  }

  /** The chain of what is finished is taken away last. */
  private async isFinished(itemId: string): Promise<boolean> {
    if (await this.claims.read(itemId)) return false;
    return this.isOver(await this.issues.get(itemId));
  }

  private isOver(item: WorkItem | undefined): boolean {
    return !item || item.labels.includes(this.config.done_label);
  }

  /** Nobody follows what is done: so the chain can be taken away without harm to anybody. */
  private async clear(claim: Claim): Promise<void> {
    if (await this.end(claim, "done")) await this.claims.remove(claim.item);
  }

  private isWanted({ labels }: WorkItem): boolean {
    return this.config.labels.every((label) => labels.includes(label));
  }

  /** Neither done nor in anybody's hands, as far as its labels say. */
  private isFree({ labels }: WorkItem): boolean {
    const { claimed_label, done_label, failed_label } = this.config;
    return ![claimed_label, done_label, failed_label].some((label) => labels.includes(label));
  }

  private mayFollow(standing: Standing): boolean {
    return standing.state === "released" || this.isStale(standing);
  }

  private isStale({ age }: Standing): boolean {
    return age > this.config.stale_after;
  }

  /** The end of the chain, if it is this claim's. */
  private async own({ item, claimId }: Claim): Promise<Standing | undefined> {
    const standing = await this.claims.read(item);
    return standing?.claimId === claimId ? standing : undefined;
  }

  /** Adds the last link; true also when it is there already. */
  private async end(claim: Claim, state: "released" | "done"): Promise<boolean> {
    const standing = await this.own(claim);
    if (!standing) return false;
    if (standing.state === state) return true;
    if (standing.state !== "claimed") return false;
    return (await this.claims.add(claim.item, standing, state, claim)) !== undefined;
  }

  private async letGo(claim: Claim): Promise<Settled> {
    return (await this.end(claim, "released")) ? "done" : "lost";
  }
}

const longestSummary = 20_000;

function resultText({ agent }: Claim, { jobId, summary, costUsd }: WorkResult): string {
  const cost = costUsd === null ? "" : ` ($${costUsd.toFixed(2)})`;
  const words = summary.slice(0, longestSummary).replaceAll("@", "@\u200b");
  return `Done by \`${agent}\` in ${jobId}${cost}.\n\n${words}`.trim();
}
