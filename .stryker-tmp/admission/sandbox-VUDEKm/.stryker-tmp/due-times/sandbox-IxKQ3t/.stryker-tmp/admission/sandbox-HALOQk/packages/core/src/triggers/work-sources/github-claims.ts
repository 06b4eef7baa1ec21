import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { Claimant } from "../../jobs/admission/work-item.ts";
import type { GitHubApi } from "./github-api.ts";

/** The last entry in an item's chain of claims. */
export interface ClaimHead {
  sha: string;
  state: "claimed" | "released" | "done";
  claimId: string;
  ageMs: number;
}

/**
 * Labels have no compare-and-set, but refs do: a ref can be created only once, and moved only
 * forward along its history. So the claims on an issue are a chain of commits on a separate ref,
 * outside of branches and tags. The claimant that appends the next commit to the head it read has
 * won.
 */
export class GitHubClaims {
  private tree: string | undefined;

  constructor(
    private readonly api: GitHubApi,
    private readonly repo: string,
  ) {}

  async read(item: string): Promise<ClaimHead | undefined> {
    const path = `/repos/${this.repo}/git/ref/${claimRef(item)}`;
    const { status, data } = await this.api.call("GET", path, [200, 404]);
    return status === 404 ? undefined : this.readClaimHead(refSchema.parse(data).object.sha);
  }

  /** The items that have a chain, whatever its state. */
  async listClaimedItems(): Promise<string[]> {
    const path = `/repos/${this.repo}/git/matching-refs/${refPrefix}`;
    const { data } = await this.api.call("GET", path, [200]);
    return z
      .array(refSchema)
      .parse(data)
      .flatMap(({ ref }) => /issue-(\d+)$/.exec(ref)?.[1] ?? []);
  }

  /** The new head, or undefined if another claimant was faster. */
  async appendClaim(
    item: string,
    previous: ClaimHead | undefined,
    state: ClaimHead["state"],
    claimant: Claimant,
  ): Promise<string | undefined> {
    const sha = await this.createClaimCommit(previous?.sha, state, claimant);
    const body = previous ? { sha, force: false } : { ref: `refs/${claimRef(item)}`, sha };
    const [method, urlSuffix] = previous ? ["PATCH", `/${claimRef(item)}`] : ["POST", ""];
    const path = `/repos/${this.repo}/git/refs${urlSuffix}`;
    const { status } = await this.api.call(method, path, [200, 201, 404, 409, 422], body);
    if (status < 300) return sha;
    // A request that seemed to fail may have succeeded, so the current head decides.
    return (await this.read(item))?.sha === sha ? sha : undefined;
  }

  async remove(item: string): Promise<void> {
    await this.api.call(
      "DELETE",
      `/repos/${this.repo}/git/refs/${claimRef(item)}`,
      [204, 404, 422],
    );
  }

  private async readClaimHead(sha: string): Promise<ClaimHead> {
    const path = `/repos/${this.repo}/git/commits/${sha}`;
    const { data, serverTime } = await this.api.call("GET", path, [200]);
    const { message, committer } = commitSchema.parse(data);
    const { state, claim } = claimNoteSchema.parse(parseClaimNote(message));
    return { sha, state, claimId: claim, ageMs: serverTime.getTime() - Date.parse(committer.date) };
  }

  private async createClaimCommit(
    parent: string | undefined,
    state: ClaimHead["state"],
    { claimId, fleet, agent }: Claimant,
  ): Promise<string> {
    const note = JSON.stringify({ state, claim: claimId, fleet, agent });
    const body = {
      message: `${commitTitle}\n\n${note}`,
      tree: await this.defaultBranchTree(),
      parents: parent ? [parent] : [],
    };
    const path = `/repos/${this.repo}/git/commits`;
    const { data } = await this.api.call("POST", path, [201], body);
    return z.object({ sha: z.string() }).parse(data).sha;
  }

  /** A commit needs a tree, and the tree of the default branch already exists. */
  private async defaultBranchTree(): Promise<string> {
    if (this.tree) return this.tree;
    const path = `/repos/${this.repo}/commits/HEAD`;
    const { status, data } = await this.api.call("GET", path, [200, 409]);
    if (status === 409) {
      throw new UserError("work_source_failed", `GitHub: ${this.repo} has no commit yet`, {
        hint: "Claims are stored as commits. Push a first commit.",
      });
    }
    this.tree = headSchema.parse(data).commit.tree.sha;
    return this.tree;
  }
}

const refPrefix = "herdctl/claims/";
const commitTitle = "herdctl claim";
const refSchema = z.object({ ref: z.string(), object: z.object({ sha: z.string() }) });
const headSchema = z.object({ commit: z.object({ tree: z.object({ sha: z.string() }) }) });
const commitSchema = z.object({ message: z.string(), committer: z.object({ date: z.string() }) });
const claimNoteSchema = z.object({
  state: z.enum(["claimed", "released", "done"]),
  claim: z.string(),
});

function claimRef(item: string): string {
  return `${refPrefix}issue-${item}`;
}

/** A chain whose head has another format is held by an unknown claim. */
function parseClaimNote(message: string): unknown {
  try {
    return JSON.parse(message.slice(message.indexOf("{")));
  } catch {
    return { state: "claimed", claim: "unknown" };
  }
}
