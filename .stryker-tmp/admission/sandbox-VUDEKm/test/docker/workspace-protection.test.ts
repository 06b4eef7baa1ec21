import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  containerUser,
  runJobInContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { loadAgent, readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

describe("files that the host would later execute", () => {
  const attacks: Record<string, string> = {
    settings: "mkdir -p .claude && echo '{}' > .claude/settings.json",
    "moved settings": "mv .claude c; mkdir .claude; echo '{}' > .claude/settings.json",
    "MCP servers": 'echo \'{"mcpServers":{"x":{"command":"touch"}}}\' > .mcp.json',
    "linked MCP servers": "rm -f .mcp.json; ln -s evil .mcp.json",
  };

  test("prevents planting such a file in a repository, and leaves no trace of the attempt", async () => {
    const harness = await repository();
    const before = snapshot(harness);
    const { job } = await runJobInContainer(harness, {
      prompt: toolCallPrompt(
        ...Object.values(attacks).map((command): [string, object] => ["Bash", { command }]),
      ),
    });
    expect(job.outcome?.code).toBe("success");
    expect(snapshot(harness)).toEqual(before);
  });

  test("keeps existing files unchanged", async () => {
    const harness = await repository();
    mkdirSync(join(harness.workspace, ".claude"));
    writeFileSync(join(harness.workspace, ".claude/settings.json"), "{}\n");
    writeFileSync(join(harness.workspace, ".mcp.json"), "{}\n");
    gitOf(harness)("config", "core.hooksPath", ".husky");
    mkdirSync(join(harness.workspace, ".husky"));
    chownToContainerUser(harness.workspace);
    const { job } = await runJobInContainer(harness, {
      prompt: toolCallPrompt([
        "Bash",
        {
          command: "echo x > .claude/settings.json; echo x > .mcp.json; echo x > .husky/pre-commit",
        },
      ]),
    });
    expect(toolResultTexts(await readJobMessages(job)).join()).toMatch(/Read-only file system/);
    expect(readFileSync(join(harness.workspace, ".claude/settings.json"), "utf8")).toBe("{}\n");
    expect(readFileSync(join(harness.workspace, ".mcp.json"), "utf8")).toBe("{}\n");
    expect(readdirSync(join(harness.workspace, ".husky"))).toEqual([]);
  });

  test("refuses a link in place of such a file, because its target could be changed", async () => {
    const harness = await repository();
    symlinkSync("elsewhere", join(harness.workspace, ".claude"));
    const { job } = await runJobInContainer(harness);
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain(".claude is a symbolic link");
  });
});

test("runs everyday git in the container and exports its results", async () => {
  const harness = await repository();
  const origin = join(harness.home, "origin.git");
  gitOf(harness)("init", "-q", "--bare", origin);
  gitOf(harness)("remote", "add", "origin", "/origin");
  chownToContainerUser(harness.workspace);
  chownToContainerUser(origin);
  const everyday = [
    "git status --short",
    "git checkout -q -b topic",
    "echo two >> file && git add -A && git commit -qm two",
    "git log --oneline | wc -l",
    "echo three >> file && git stash -q && git stash pop -q && git diff --stat",
    "git fetch -q origin && git branch -a",
    "git push -q -u origin topic",
    "git tag v1",
    "git checkout -q -- file; git switch -q -c second main; echo s > s; git add s; git commit -qm second",
    "git merge -q -m merged topic; git rebase -q main 2>&1 | tail -1",
    "git switch -q topic",
    "echo four > staged; git add staged; git stash -q; git status --short",
  ];
  const { job } = await runJobInContainer(harness, {
    yaml: `docker: { enabled: true, volumes: ["${origin}:/origin:rw"] }`,
    prompt: toolCallPrompt(["Bash", { command: `set -e; ${everyday.join("; ")}; echo ALL-WELL` }]),
  });
  expect(toolResultTexts(await readJobMessages(job))[0]).toContain("ALL-WELL");
  expect(job.warnings).toEqual([]);
  const names = gitOf(harness)("show", "--stat", "--format=", `refs/herdctl/${job.id}`);
  expect(names).toContain("file");
  expect(names).not.toContain(".mcp.json");
  expect(job.git).toMatchObject({
    ref: `refs/herdctl/${job.id}`,
    commits: 1,
    branch: null,
    other_refs: [`refs/herdctl-branches/${job.id}/second`, `refs/herdctl-stash/${job.id}`],
  });
  expect(gitOf(harness)("branch", "--list").trim()).toBe("* main");
  expect(gitOf(harness)("--git-dir", origin, "branch", "--list").trim()).toBe("topic");
});

test("lets the agent read but not write with workspace_mode: ro", async () => {
  const harness = await repository();
  const { job } = await runJobInContainer(harness, {
    yaml: "docker: { enabled: true, workspace_mode: ro }",
    prompt: toolCallPrompt(["Bash", { command: "cat file; touch new" }]),
  });
  expect(toolResultTexts(await readJobMessages(job)).join()).toMatch(/one.*Read-only file system/s);
  expect(readdirSync(harness.workspace).sort()).toEqual([".git", "file"]);
});

describe("users", () => {
  test("runs as the workspace's owner", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    chownSync(harness.workspace, 1234, 1235);
    const { job } = await runJobInContainer(harness, {
      prompt: toolCallPrompt(["Bash", { command: "id; touch mine" }]),
    });
    expect(toolResultTexts(await readJobMessages(job)).join()).toContain("uid=1234 gid=1235");
    expect(readdirSync(harness.workspace)).toEqual(["mine"]);
  });

  test("refuses a workspace that the user cannot write, with a hint", async () => {
    const harness = await startDockerHarness(engine);
    chownSync(harness.workspace, 0, 0);
    chmodSync(harness.workspace, 0o755);
    const { job } = await runJobInContainer(harness);
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toMatch(/User 1000 .* cannot write the working directory/);
    expect(job.outcome?.hint).toMatch(/chown.*docker\.user.*workspace_mode: ro/);
    const { job: reading } = await runJobInContainer(harness, {
      yaml: "docker: { enabled: true, workspace_mode: ro }",
    });
    expect(reading.outcome?.code).toBe("success");
  });
});

describe("volumes", () => {
  test("mounts volumes read-only unless they say rw", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const [reading, writing] = [join(harness.home, "reading"), join(harness.home, "writing")];
    for (const folder of [reading, writing]) {
      mkdirSync(folder);
      chownSync(folder, containerUser.uid, containerUser.gid);
    }
    await runJobInContainer(harness, {
      yaml: `docker: { enabled: true, volumes: ["${reading}:/r", "${writing}:/w:rw"] }`,
      prompt: toolCallPrompt(["Bash", { command: "touch /r/x; touch /w/x" }]),
    });
    expect(readdirSync(reading)).toEqual([]);
    expect(readdirSync(writing)).toEqual(["x"]);
  });

  test("refuses missing volumes and does not create them", async () => {
    const harness = await startDockerHarness(engine);
    const source = join(harness.home, "nowhere");
    const { job } = await runJobInContainer(harness, {
      yaml: `docker: { enabled: true, volumes: ["${source}:/v"] }`,
    });
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain("does not exist");
    expect(existsSync(source)).toBe(false);
  });

  test.each(["/etc", "/proc", "/run", homedir()])(
    "refuses a link that leads to %s at the time of the start",
    async (target) => {
      const harness = await startDockerHarness(engine);
      const link = join(harness.home, "link");
      mkdirSync(join(harness.home, "harmless"));
      symlinkSync(join(harness.home, "harmless"), link);
      const agent = loadAgent(harness, `docker: { enabled: true, volumes: ["${link}:/v"] }`);
      unlinkSync(link);
      symlinkSync(target, link);
      const { job } = await runJobInContainer(harness, { agent });
      expect(job.outcome).toMatchObject({ code: "workspace_missing" });
      expect(job.outcome?.message).toContain("would get access to");
    },
  );
});

async function repository(): Promise<TestHarness> {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const git = gitOf(harness);
  git("init", "-q", "-b", "main");
  writeFileSync(join(harness.workspace, "file"), "one\n");
  git("add", "file");
  git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "one");
  chownToContainerUser(harness.workspace);
  return harness;
}

/** The host's git, which accepts a workspace of another owner. */
function gitOf(harness: TestHarness): (...args: string[]) => string {
  const safe = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
  };
  return (...args) =>
    execFileSync("git", args, {
      cwd: harness.workspace,
      env: { ...harness.env, ...safe },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
}

/** The files that Claude Code and git read first. */
function snapshot(harness: TestHarness) {
  const read = (path: string) => {
    const whole = join(harness.workspace, path);
    const entry = lstatSync(whole, { throwIfNoEntry: false });
    return entry?.isFile() ? readFileSync(whole, "utf8") : entry && "no file";
  };
  return {
    config: read(".git/config"),
    hooks: readdirSync(join(harness.workspace, ".git/hooks")),
    claude: existsSync(join(harness.workspace, ".claude")),
    mcp: read(".mcp.json"),
  };
}
