import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { signIn } from "../support/sign-in.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { minimalEnv, runHerdctl } from "./run-herdctl.ts";

/** A repository with one commit and these files. */
function repositoryWith(files: Record<string, string>): string {
  const cwd = tempFolderWith(files);
  const identity = ["-c", "user.name=operator", "-c", "user.email=operator@example.org"];
  const git = (...args: string[]) => execFileSync("git", args, { cwd, env: minimalEnv() });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git(...identity, "commit", "-qm", "Add the price list");
  return cwd;
}

test("writes a fleet for a repository and a subscription whose first job succeeds", async () => {
  const reply = "The commit adds a price list. The tests pass.";
  const harness = await startHarness({
    script: {
      rules: [
        {
          match: { prompt: "Review the commits" },
          replies: [
            { tools: [{ name: "Bash", input: { command: "git log -3", description: "Commits" } }] },
            { tools: [{ name: "Bash", input: { command: "npm test", description: "Tests" } }] },
            reply,
          ],
        },
      ],
    },
  });
  signIn(harness.configDir);
  const { ANTHROPIC_API_KEY: _, ...env } = harness.env;
  const script = "touch tests-ran";
  const cwd = repositoryWith({
    "package.json": JSON.stringify({ scripts: { test: script }, packageManager: "npm@11.0.0" }),
  });
  const shown = await runHerdctl(["init", "--yes"], { cwd, env });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  for (const found of [
    "your Claude login (subscription)",
    "repository, branch main",
    "JavaScript, npm",
    "npm test",
    "Next: herdctl trigger reviewer --wait",
  ])
    expect(shown.stdout).toContain(found);

  const job = await runHerdctl(["trigger", "reviewer", "--wait", "--json"], { cwd, env });
  expect(JSON.parse(job.stdout)).toMatchObject({
    outcome: { code: "success" },
    runtime: "cli",
    summary: reply,
  });
  expect(existsSync(join(cwd, "tests-ran"))).toBe(true);
});

test("reports what it found as JSON, and that nobody can sign in", async () => {
  const cwd = repositoryWith({ "Cargo.toml": "", Makefile: "all:" });
  const made = await runHerdctl(["init", "--json"], { cwd });
  expect(JSON.parse(made.stdout)).toMatchObject({
    example: "reviewer",
    runtime: "cli",
    agents: ["reviewer"],
    found: {
      signIn: { subscription: false },
      git: { branch: "main" },
      project: { language: "Rust", testCommand: "cargo test" },
    },
    sign_in: [{ agents: ["reviewer"], message: "there is neither a login nor an API key" }],
    next: "herdctl doctor",
  });
  expect(readFileSync(join(cwd, "herdctl.yaml"), "utf8")).toContain("Bash(cargo test:*)");
});
