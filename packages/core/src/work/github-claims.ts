import { z } from "zod";
import { UserError } from "../errors/user-error.ts";
import type { GitHubApi } from "./github-api.ts";
import type { Claimant } from "./work-source.ts";

/** What stands at the end of an item's chain of claims. */
export interface Standing {
  sha: string;
  state: "claimed" | "released" | "done";
  claimId: string;
  age: number;
}

/**
 * Labels have no compare-and-set, but refs do: one can be made only once, and moved only forward
 * along its own history. So the claims on an issue are a chain of commits on a ref of its own,
 * outside of branches and tags, and whoever adds the next link to the end that it saw has won.
 */
export class GitHubClaims {
  private tree: string | undefined;

  constructor(
    private readonly api: GitHubApi,
    private readonly repo: string,
  ) {}

  async read(item: string): Promise<Standing | undefined> {
    const path = `/repos/${this.repo}/git/ref/${refOf(item)}`;
    const { status, data } = await this.api.call("GET", path, [200, 404]);
    return status === 404 ? undefined : this.standing(refSchema.parse(data).object.sha);
  }

  /** The items with a chain, whatever stands at its end. */
  async items(): Promise<string[]> {
    const path = `/repos/${this.repo}/git/matching-refs/${folder}`;
    const { data } = await this.api.call("GET", path, [200]);
    return z
      .array(refSchema)
      .parse(data)
      .flatMap(({ ref }) => /issue-(\d+)$/.exec(ref)?.[1] ?? []);
  }

  /** The new end, or undefined when somebody else was first. */
  async add(
    item: string,
    after: Standing | undefined,
    state: Standing["state"],
    claimant: Claimant,
  ): Promise<string | undefined> {
    const sha = await this.commit(after?.sha, state, claimant);
    const body = after ? { sha, force: false } : { ref: `refs/${refOf(item)}`, sha };
    const [method, place] = after ? ["PATCH", `/${refOf(item)}`] : ["POST", ""];
    const path = `/repos/${this.repo}/git/refs${place}`;
    const { status } = await this.api.call(method, path, [200, 201, 404, 409, 422], body);
    if (status < 300) return sha;
    // A try that seemed to fail may have come through: what stands there now tells.
    return (await this.read(item))?.sha === sha ? sha : undefined;
  }

  async remove(item: string): Promise<void> {
    await this.api.call("DELETE", `/repos/${this.repo}/git/refs/${refOf(item)}`, [204, 404, 422]);
  }

  private async standing(sha: string): Promise<Standing> {
    const path = `/repos/${this.repo}/git/commits/${sha}`;
    const { data, now } = await this.api.call("GET", path, [200]);
    const { message, committer } = commitSchema.parse(data);
    const { state, claim } = noteSchema.parse(noteOf(message));
    return { sha, state, claimId: claim, age: now.getTime() - Date.parse(committer.date) };
  }

  private async commit(
    parent: string | undefined,
    state: Standing["state"],
    { claimId, fleet, agent }: Claimant,
  ): Promise<string> {
    const note = JSON.stringify({ state, claim: claimId, fleet, agent });
    const body = {
      message: `${title}\n\n${note}`,
      tree: await this.anyTree(),
      parents: parent ? [parent] : [],
    };
    const path = `/repos/${this.repo}/git/commits`;
    const { data } = await this.api.call("POST", path, [201], body);
    return z.object({ sha: z.string() }).parse(data).sha;
  }

  /** A commit needs a tree, and the one of the default branch is there already. */
  private async anyTree(): Promise<string> {
    if (this.tree) return this.tree;
    const path = `/repos/${this.repo}/commits/HEAD`;
    const { status, data } = await this.api.call("GET", path, [200, 409]);
    if (status === 409) {
      throw new UserError("work_source_failed", `GitHub: ${this.repo} has no commit yet`, {
        hint: "Claims are kept as commits: push a first one.",
      });
    }
    this.tree = headSchema.parse(data).commit.tree.sha;
    return this.tree;
  }
}

const folder = "herdctl/claims/";
const title = "herdctl claim";
const refSchema = z.object({ ref: z.string(), object: z.object({ sha: z.string() }) });
const headSchema = z.object({ commit: z.object({ tree: z.object({ sha: z.string() }) }) });
const commitSchema = z.object({ message: z.string(), committer: z.object({ date: z.string() }) });
const noteSchema = z.object({
  state: z.enum(["claimed", "released", "done"]),
  claim: z.string(),
});

function refOf(item: string): string {
  return `${folder}issue-${item}`;
}

/** A chain whose end we did not write is nobody's claim that we could judge. */
function noteOf(message: string): unknown {
  try {
    return JSON.parse(message.slice(message.indexOf("{")));
  } catch {
    return { state: "claimed", claim: "unknown" };
  }
}
