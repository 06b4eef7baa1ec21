import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhooks } from "@octokit/webhooks";
import { expect } from "vitest";
import type { TestEngine } from "../support/docker-engine.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { GitHubStandIn } from "../support/github-stand-in.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";
import { freePort, sendWebhook } from "../webhooks/webhook-harness.ts";
import { createRepository } from "./host-examples.ts";
import { startRehearsedFleet } from "./rehearsed-fleet.ts";
import { type Example, runRehearsed } from "./run-example.ts";

/** Examples for GitHub, with a stand-in of its API and a local repository. */
export function gitHubExamples(
  engine: TestEngine,
): Record<string, (example: Example) => Promise<void>> {
  return {
    "github-coder": async (example) => {
      await runRehearsed(example);
      const { github, bare } = await startGitHub(example);
      github.addIssue(7, { title: "Greet the world", body: "And end the line." });
      const take = "herdctl rehearse rehearsal.yaml -- herdctl trigger coder --schedule issues";
      const run = await example.shell(`rm -r workspaces; ${take}`);
      expect(run, run.stdout).toMatchObject({ code: 0 });

      expect(git(bare, "log", "-1", "--format=%an: %s", "issue-7")).toBe("coder: Greet the world");
      expect(git(bare, "show", "issue-7:greeting.txt")).toBe("Hello, world");
      expect(github.issues.get(7)?.state).toBe("closed");
      expect(github.commentsOnIssue(7).join()).toContain("It is on the branch issue-7.");
      const job = (await example.jobs()).at(-1);
      expect(job?.prompt).toMatch(/<untrusted-data from="work.title"[^>]*>\nGreet the world/);
      expect(readFileSync(join(example.folder, "done.jsonl"), "utf8")).toContain(job?.id);
    },

    "pr-reviewer": async (example) => {
      const { github, bare } = await startGitHub(example);
      createPullRequest(bare, 12);
      github.addIssue(12);
      const secret = "only for this test";
      const port = await freePort();
      Object.assign(example.env, {
        GITHUB_WEBHOOK_SECRET: secret,
        HERDCTL_PORT: String(port),
        DOCKER_HOST: engine.dockerHost,
      });
      const fleet = await startRehearsedFleet(example);
      const body = readFileSync(join(example.folder, "pull-request.json"), "utf8");
      const { status, json } = await sendWebhook(
        `http://127.0.0.1:${port}/hooks/reviewer/pull-requests`,
        body,
        {
          "x-github-event": "pull_request",
          "x-github-delivery": "1",
          "x-hub-signature-256": await new Webhooks({ secret }).sign(body),
        },
      );
      expect(status, JSON.stringify(json)).toBe(202);
      const job = await fleet.jobs.wait(String(json.job));
      expect(job.outcome, job.outcome?.message).toMatchObject({ code: "success" });
      expect(job).toMatchObject({ session_home: "docker", trigger_type: "webhook" });
      expect(job.prompt).toMatch(/<untrusted-data[^>]*>\nGreet by name\n</);
      expect(example.output(job)).toContain("+export const greet = (name)");
      const [comment] = await waitUntil("the comment", async () =>
        github.commentsOnIssue(12).length > 0 ? github.commentsOnIssue(12) : undefined,
      );
      expect(comment).toContain("some remarks");
      expect(comment).toContain("`greet.js:1` A name that is missing greets nobody.");
      // The README sends the same delivery, which must give the same job.
      expect(JSON.parse((await runRehearsed(example)).stdout)).toMatchObject({
        ...{ job: job.id, duplicate: true },
      });
    },
  };
}

/** A stand-in of the API, and a bare repository in place of GitHub's. */
async function startGitHub({ env, onCleanup }: Example) {
  const github = await GitHubStandIn.start();
  onCleanup(() => github.stop());
  const first = tempFolderWith({ "greeting.txt": "Hello\n" }, onCleanup);
  createRepository(first);
  const server = tempFolderWith({}, onCleanup);
  const bare = join(server, "o/r.git");
  git(first, "clone", "-q", "--bare", first, bare);
  Object.assign(env, {
    GITHUB_REPOSITORY: "o/r",
    GITHUB_SERVER_URL: `file://${server}`,
    GITHUB_API_URL: github.url,
    GITHUB_TOKEN: "made-up",
  });
  return { github, bare };
}

/** Creates the commit of a pull request under GitHub's ref for it. */
function createPullRequest(bare: string, number: number): void {
  const draft = join(bare, "../draft");
  git(bare, "clone", "-q", bare, draft);
  writeFiles(draft, { "greet.js": "export const greet = (name) => `Hello, ${name}`;\n" });
  git(draft, "add", ".");
  git(draft, "-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "-qm", "Greet");
  git(draft, "push", "-q", "origin", `HEAD:refs/pull/${number}/head`);
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
}
