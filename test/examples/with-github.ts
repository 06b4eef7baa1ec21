import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhooks } from "@octokit/webhooks";
import { expect } from "vitest";
import type { TestEngine } from "../support/engine.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith, writeFiles } from "../support/folder.ts";
import { GitHubStandIn } from "../support/github.ts";
import { freePort, send } from "../webhooks/hook-stage.ts";
import { type Example, rehearsed } from "./example.ts";
import { repository } from "./on-this-machine.ts";
import { rehearsedFleet } from "./running-fleet.ts";

/** Examples that work with GitHub: here with a stand-in of its API and a repository on this disk. */
export function withGitHub(
  engine: TestEngine,
): Record<string, (example: Example) => Promise<void>> {
  return {
    "github-coder": async (example) => {
      await rehearsed(example);
      const { github, bare } = await gitHub(example);
      github.open(7, { title: "Greet the world", body: "And end the line." });
      const take = "herdctl rehearse rehearsal.yaml -- herdctl trigger coder --schedule issues";
      const run = await example.shell(`rm -r workspaces; ${take}`);
      expect(run, run.stdout).toMatchObject({ code: 0 });

      expect(git(bare, "log", "-1", "--format=%an: %s", "issue-7")).toBe("coder: Greet the world");
      expect(git(bare, "show", "issue-7:greeting.txt")).toBe("Hello, world");
      expect(github.issues.get(7)?.state).toBe("closed");
      expect(github.commentsOf(7).join()).toContain("It is on the branch issue-7.");
      const job = (await example.jobs()).at(-1);
      expect(job?.prompt).toMatch(/<untrusted-data from="work.title"[^>]*>\nGreet the world/);
      expect(readFileSync(join(example.folder, "done.jsonl"), "utf8")).toContain(job?.id);
    },

    "pr-reviewer": async (example) => {
      const { github, bare } = await gitHub(example);
      pullRequest(bare, 12);
      github.open(12);
      const secret = "only for this test";
      const port = await freePort();
      Object.assign(example.env, {
        GITHUB_WEBHOOK_SECRET: secret,
        HERDCTL_PORT: String(port),
        DOCKER_HOST: engine.dockerHost,
      });
      const fleet = await rehearsedFleet(example);
      const body = readFileSync(join(example.folder, "pull-request.json"), "utf8");
      const { status, json } = await send(
        `http://127.0.0.1:${port}/hooks/reviewer/pull-requests`,
        body,
        {
          "x-github-event": "pull_request",
          "x-github-delivery": "1",
          "x-hub-signature-256": await new Webhooks({ secret }).sign(body),
        },
      );
      expect(status, JSON.stringify(json)).toBe(202);
      const job = await fleet.wait(String(json.job));
      expect(job.outcome, job.outcome?.message).toMatchObject({ code: "success" });
      expect(job).toMatchObject({ place: "docker", trigger_type: "webhook" });
      expect(job.prompt).toMatch(/<untrusted-data[^>]*>\nGreet by name\n</);
      expect(example.output(job)).toContain("+export const greet = (name)");
      const [comment] = await until("the comment", async () =>
        github.commentsOf(12).length > 0 ? github.commentsOf(12) : undefined,
      );
      expect(comment).toContain("some remarks");
      expect(comment).toContain("`greet.js:1` A name that is missing greets nobody.");
      // As the README has it sent: the same delivery, so the same job.
      expect(JSON.parse((await rehearsed(example)).stdout)).toMatchObject({
        ...{ job: job.id, duplicate: true },
      });
    },
  };
}

/** A stand-in of the API, and a bare repository where the example would find GitHub's. */
async function gitHub({ env, whenOver }: Example) {
  const github = await GitHubStandIn.start();
  whenOver(() => github.stop());
  const first = folderWith({ "greeting.txt": "Hello\n" }, whenOver);
  repository(first);
  const server = folderWith({}, whenOver);
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

/** The change of a pull request, under the ref that GitHub keeps for it. */
function pullRequest(bare: string, number: number): void {
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
