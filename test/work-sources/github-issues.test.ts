import { describe, expect, onTestFinished, test } from "vitest";
import { GitHubApi } from "../../packages/core/src/triggers/work-sources/github-api.ts";
import { GitHubSource } from "../../packages/core/src/triggers/work-sources/github-source.ts";
import { GitHubStandIn } from "../support/github-stand-in.ts";
import { describeWorkSourceConformance } from "./work-source-conformance.ts";

const hourMs = 3_600_000;

async function startGitHub(): Promise<GitHubStandIn> {
  const github = await GitHubStandIn.start();
  onTestFinished(() => github.stop());
  return github;
}

function createSource(github: GitHubStandIn, changes: object = {}): GitHubSource {
  const config = {
    type: "github" as const,
    repo: "o/r",
    labels: ["ready"],
    exclude_labels: [],
    token_env: "GITHUB_TOKEN",
    claimed_label: "in-progress",
    on_success: "close" as const,
    done_label: "done",
    failed_label: "herdctl-failed",
    stale_after: hourMs,
    base_url: github.url,
    ...changes,
  };
  return new GitHubSource(config, "secret-token");
}

describe.each(["close", "label"])("GitHub issues with on_success: %s", (on_success) => {
  describeWorkSourceConformance(async () => {
    const github = await startGitHub();
    let number = 0;
    return {
      openSource: () => createSource(github, { on_success }),
      addItem: (title) => String(github.addIssue(++number, { title }).number),
      readItem: (item) => ({
        isOpen: github.issues.get(Number(item))?.state === "open",
        isAnnounced: github.labelsOfIssue(Number(item)).includes("in-progress"),
        isSetAside: github.labelsOfIssue(Number(item)).includes("herdctl-failed"),
        words: github.commentsOnIssue(Number(item)).join("\n"),
      }),
      expireClaims: () => {
        github.clockOffsetMs += 2 * hourMs;
      },
    };
  });
});

describe("GitHub issues", () => {
  const claimant = { claimId: "a", agent: "coder", fleet: "test" };

  test("finds only open issues with all labels and no excluded one, and no pull requests", async () => {
    const github = await startGitHub();
    github.addIssue(1, { labels: ["ready", "small"] });
    github.addIssue(2, { labels: ["ready"] });
    Object.assign(github.addIssue(3, { labels: ["ready", "small"] }), { pull_request: {} });
    github.addIssue(4, { labels: ["ready", "small"] }).state = "closed";
    github.addIssue(5, { labels: ["ready", "small", "done"] });
    github.addIssue(6, { labels: ["ready", "small", "blocked"] });
    const wanted = { labels: ["ready", "small"], exclude_labels: ["blocked"] };
    const found = await createSource(github, wanted).listAvailable(10);
    expect(found.map(({ id }) => id)).toEqual(["1"]);
  });

  test("skips an issue that was closed before the claim, and leaves it free when it is reopened", async () => {
    const github = await startGitHub();
    const issue = github.addIssue(1);
    const source = createSource(github);
    issue.state = "closed";
    expect((await source.claim("1", claimant)).kind).toBe("gone");
    expect(github.refs.size).toBe(0);
    issue.state = "open";
    expect((await source.claim("1", { ...claimant, claimId: "b" })).kind).toBe("claimed");
  });

  test("closes the issue on success, unassigns only its own assignee, and leaves no ref", async () => {
    const github = await startGitHub();
    github.addIssue(1).assignees.push("kim");
    const source = createSource(github);
    await source.claim("1", claimant);
    const claim = { ...claimant, item: "1", handle: null };
    await source.announce(claim);
    expect(github.issues.get(1)?.assignees).toEqual(["kim", "herd-bot"]);
    await source.complete(claim, { jobId: "job-1", summary: "ok", costUsd: 1 });
    expect(github.issues.get(1)).toMatchObject({ state: "closed", assignees: ["kim", "herd-bot"] });
    expect(github.refs.size).toBe(0);
  });

  test("finds its own claim when the response was lost", async () => {
    const github = await startGitHub();
    github.addIssue(1);
    let lost = 0;
    github.faults.push((method, path) =>
      method === "POST" && path.endsWith("/git/refs") && lost++ === 0 ? "lose-answer" : undefined,
    );
    expect((await createSource(github).claim("1", claimant)).kind).toBe("claimed");
    expect(lost).toBe(2);
  });

  test("retries when the server fails, but not when it refuses", async () => {
    const github = await startGitHub();
    github.addIssue(1);
    let asked = 0;
    github.faults.push(() => (asked++ < 2 ? [502, { message: "bad gateway" }] : undefined));
    expect(await createSource(github).listAvailable(1)).toHaveLength(1);
    github.faults.splice(0, 1, () => [401, { message: "Bad credentials" }]);
    const before = github.requests.length;
    await expect(createSource(github).listAvailable(1)).rejects.toThrow(
      "answered with 401: Bad credentials",
    );
    expect(github.requests.length).toBe(before + 1);
  });

  test("waits for a short rate limit and reports a long one", async () => {
    const github = await startGitHub();
    let asked = 0;
    github.faults.push(() => (asked++ === 0 ? [429, {}, { "retry-after": "1" }] : undefined));
    const began = Date.now();
    expect(await createSource(github).listAvailable(1)).toEqual([]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(900);

    const reset = String(Math.floor(Date.now() / 1000) + 3600);
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    github.faults.splice(0, 1, () => [403, { message: "rate limit" }, headers]);
    const before = github.requests.length;
    await expect(createSource(github).listAvailable(1)).rejects.toThrow(
      /rate limit is reached until/,
    );
    expect(github.requests.length).toBe(before + 1);
  });

  test("shows the token in no error", async () => {
    const github = await startGitHub();
    github.faults.push(() => [403, { message: "no" }]);
    const error: unknown = await createSource(github)
      .listAvailable(1)
      .catch((thrown) => thrown);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret-token");
    expect(github.requests[0]?.authorization).toBe("Bearer secret-token");
    const api = new GitHubApi({ baseUrl: "http://127.0.0.1:1", token: "secret-token" });
    await expect(api.call("GET", "/x", [200])).rejects.toThrow(/^GitHub: GET \/x: (?!.*secret)/);
  });
});
