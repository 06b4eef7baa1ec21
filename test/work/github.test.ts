import { describe, expect, onTestFinished, test } from "vitest";
import { GitHubApi } from "../../packages/core/src/work/github-api.ts";
import { GitHubSource } from "../../packages/core/src/work/github-source.ts";
import { GitHubStandIn } from "../support/github.ts";
import { workSourceConforms } from "./conformance.ts";

const hour = 3_600_000;

async function standIn(): Promise<GitHubStandIn> {
  const github = await GitHubStandIn.start();
  onTestFinished(() => github.stop());
  return github;
}

function sourceOn(github: GitHubStandIn, changes: object = {}): GitHubSource {
  const config = {
    type: "github" as const,
    repo: "o/r",
    labels: ["ready"],
    token_env: "GITHUB_TOKEN",
    claimed_label: "in-progress",
    on_success: "close" as const,
    done_label: "done",
    failed_label: "herdctl-failed",
    stale_after: hour,
    base_url: github.url,
    ...changes,
  };
  return new GitHubSource(config, "secret-token");
}

describe.each(["close", "label"])("GitHub issues, on_success: %s", (on_success) => {
  workSourceConforms(async () => {
    const github = await standIn();
    let number = 0;
    return {
      source: () => sourceOn(github, { on_success }),
      add: (title) => String(github.open(++number, { title }).number),
      seen: (item) => ({
        isOpen: github.issues.get(Number(item))?.state === "open",
        isAnnounced: github.labelsOf(Number(item)).includes("in-progress"),
        isSetAside: github.labelsOf(Number(item)).includes("herdctl-failed"),
        words: github.commentsOf(Number(item)).join("\n"),
      }),
      letTimePass: () => {
        github.clockOffset += 2 * hour;
      },
    };
  });
});

describe("GitHub issues", () => {
  const claimant = { claimId: "a", agent: "coder", fleet: "test" };

  test("only open issues with all labels are found, and no pull requests", async () => {
    const github = await standIn();
    github.open(1, { labels: ["ready", "small"] });
    github.open(2, { labels: ["ready"] });
    Object.assign(github.open(3, { labels: ["ready", "small"] }), { pull_request: {} });
    github.open(4, { labels: ["ready", "small"] }).state = "closed";
    github.open(5, { labels: ["ready", "small", "done"] });
    const found = await sourceOn(github, { labels: ["ready", "small"] }).find(10);
    expect(found.map(({ id }) => id)).toEqual(["1"]);
  });

  test("an issue that was closed between look and claim is gone, and free when it is opened again", async () => {
    const github = await standIn();
    const issue = github.open(1);
    const source = sourceOn(github);
    issue.state = "closed";
    expect((await source.claim("1", claimant)).kind).toBe("gone");
    expect(github.refs.size).toBe(0);
    issue.state = "open";
    expect((await source.claim("1", { ...claimant, claimId: "b" })).kind).toBe("claimed");
  });

  test("success closes it, unassigns nobody it did not assign, and leaves no ref", async () => {
    const github = await standIn();
    github.open(1).assignees.push("kim");
    const source = sourceOn(github);
    await source.claim("1", claimant);
    const claim = { ...claimant, item: "1", handle: null };
    await source.announce(claim);
    expect(github.issues.get(1)?.assignees).toEqual(["kim", "herd-bot"]);
    await source.complete(claim, { jobId: "job-1", summary: "ok", costUsd: 1 });
    expect(github.issues.get(1)).toMatchObject({ state: "closed", assignees: ["kim", "herd-bot"] });
    expect(github.refs.size).toBe(0);
  });

  test("a claim whose answer was lost is found to be made", async () => {
    const github = await standIn();
    github.open(1);
    let lost = 0;
    github.mishaps.push((method, path) =>
      method === "POST" && path.endsWith("/git/refs") && lost++ === 0 ? "lose-answer" : undefined,
    );
    expect((await sourceOn(github).claim("1", claimant)).kind).toBe("claimed");
    expect(lost).toBe(2);
  });

  test("a server that fails is asked again, one that refuses is not", async () => {
    const github = await standIn();
    github.open(1);
    let asked = 0;
    github.mishaps.push(() => (asked++ < 2 ? [502, { message: "bad gateway" }] : undefined));
    expect(await sourceOn(github).find(1)).toHaveLength(1);
    github.mishaps.splice(0, 1, () => [401, { message: "Bad credentials" }]);
    const before = github.requests.length;
    await expect(sourceOn(github).find(1)).rejects.toThrow("answered with 401: Bad credentials");
    expect(github.requests.length).toBe(before + 1);
  });

  test("a limit is waited for when it is short, and told of when it is long", async () => {
    const github = await standIn();
    let asked = 0;
    github.mishaps.push(() => (asked++ === 0 ? [429, {}, { "retry-after": "1" }] : undefined));
    const began = Date.now();
    expect(await sourceOn(github).find(1)).toEqual([]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(900);

    const reset = String(Math.floor(Date.now() / 1000) + 3600);
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    github.mishaps.splice(0, 1, () => [403, { message: "rate limit" }, headers]);
    const before = github.requests.length;
    await expect(sourceOn(github).find(1)).rejects.toThrow(/limit is reached; it lasts until/);
    expect(github.requests.length).toBe(before + 1);
  });

  test("no error tells the token", async () => {
    const github = await standIn();
    github.mishaps.push(() => [403, { message: "no" }]);
    const error: unknown = await sourceOn(github)
      .find(1)
      .catch((thrown) => thrown);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret-token");
    expect(github.requests[0]?.authorization).toBe("Bearer secret-token");
    const api = new GitHubApi({ baseUrl: "http://127.0.0.1:1", token: "secret-token" });
    await expect(api.call("GET", "/x", [200])).rejects.toThrow(/^GitHub: GET \/x: (?!.*secret)/);
  });
});
