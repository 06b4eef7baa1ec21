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
import { dockerStage, giveAll, insider, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { agentFor, logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();

describe("what the host would later execute", () => {
  const attacks: Record<string, string> = {
    settings: "mkdir -p .claude && echo '{}' > .claude/settings.json",
    "moved settings": "mv .claude c; mkdir .claude; echo '{}' > .claude/settings.json",
    "MCP servers": 'echo \'{"mcpServers":{"x":{"command":"touch"}}}\' > .mcp.json',
    "linked MCP servers": "rm -f .mcp.json; ln -s evil .mcp.json",
  };

  test("cannot be planted in a repository, and nothing is left of the attempt", async () => {
    const on = await repository();
    const before = snapshot(on);
    const { job } = await runContained(on, {
      prompt: obey(
        ...Object.values(attacks).map((command): [string, object] => ["Bash", { command }]),
      ),
    });
    expect(job.outcome?.code).toBe("success");
    expect(snapshot(on)).toEqual(before);
  });

  test("also stays as it is where it was there before", async () => {
    const on = await repository();
    mkdirSync(join(on.workspace, ".claude"));
    writeFileSync(join(on.workspace, ".claude/settings.json"), "{}\n");
    writeFileSync(join(on.workspace, ".mcp.json"), "{}\n");
    gitOf(on)("config", "core.hooksPath", ".husky");
    mkdirSync(join(on.workspace, ".husky"));
    giveAll(on.workspace);
    const { job } = await runContained(on, {
      prompt: obey([
        "Bash",
        {
          command: "echo x > .claude/settings.json; echo x > .mcp.json; echo x > .husky/pre-commit",
        },
      ]),
    });
    expect(toolResults(await logOf(job)).join()).toMatch(/Read-only file system/);
    expect(readFileSync(join(on.workspace, ".claude/settings.json"), "utf8")).toBe("{}\n");
    expect(readFileSync(join(on.workspace, ".mcp.json"), "utf8")).toBe("{}\n");
    expect(readdirSync(join(on.workspace, ".husky"))).toEqual([]);
  });

  test("a link in its place is refused, because it could be made to lead elsewhere", async () => {
    const on = await repository();
    symlinkSync("elsewhere", join(on.workspace, ".claude"));
    const { job } = await runContained(on);
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain(".claude is a link");
  });
});

test("everyday git works in the container, and what was done there is brought out", async () => {
  const on = await repository();
  const origin = join(on.home, "origin.git");
  gitOf(on)("init", "-q", "--bare", origin);
  gitOf(on)("remote", "add", "origin", "/origin");
  giveAll(on.workspace);
  giveAll(origin);
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
  const { job } = await runContained(on, {
    yaml: `docker: { enabled: true, volumes: ["${origin}:/origin:rw"] }`,
    prompt: obey(["Bash", { command: `set -e; ${everyday.join("; ")}; echo ALL-WELL` }]),
  });
  expect(toolResults(await logOf(job))[0]).toContain("ALL-WELL");
  expect(job.warnings).toEqual([]);
  const names = gitOf(on)("show", "--stat", "--format=", `refs/herdctl/${job.id}`);
  expect(names).toContain("file");
  expect(names).not.toContain(".mcp.json");
  expect(job.git).toMatchObject({
    ref: `refs/herdctl/${job.id}`,
    commits: 1,
    branch: null,
    other_refs: [`refs/herdctl-branches/${job.id}/second`, `refs/herdctl-stash/${job.id}`],
  });
  expect(gitOf(on)("branch", "--list").trim()).toBe("* main");
  expect(gitOf(on)("--git-dir", origin, "branch", "--list").trim()).toBe("topic");
});

test("workspace_mode: ro lets the agent read and not write", async () => {
  const on = await repository();
  const { job } = await runContained(on, {
    yaml: "docker: { enabled: true, workspace_mode: ro }",
    prompt: obey(["Bash", { command: "cat file; touch new" }]),
  });
  expect(toolResults(await logOf(job)).join()).toMatch(/one.*Read-only file system/s);
  expect(readdirSync(on.workspace).sort()).toEqual([".git", "file"]);
});

describe("users", () => {
  test("the workspace's owner is the user", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    chownSync(on.workspace, 1234, 1235);
    const { job } = await runContained(on, {
      prompt: obey(["Bash", { command: "id; touch mine" }]),
    });
    expect(toolResults(await logOf(job)).join()).toContain("uid=1234 gid=1235");
    expect(readdirSync(on.workspace)).toEqual(["mine"]);
  });

  test("a workspace that the user cannot write is refused, with what helps", async () => {
    const on = await dockerStage(engine);
    chownSync(on.workspace, 0, 0);
    chmodSync(on.workspace, 0o755);
    const { job } = await runContained(on);
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toMatch(/User 1000 .* may not write the working directory/);
    expect(job.outcome?.hint).toMatch(/chown.*docker\.user.*workspace_mode: ro/);
    const { job: reading } = await runContained(on, {
      yaml: "docker: { enabled: true, workspace_mode: ro }",
    });
    expect(reading.outcome?.code).toBe("success");
  });
});

describe("volumes", () => {
  test("are mounted read-only unless they say rw", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const [reading, writing] = [join(on.home, "reading"), join(on.home, "writing")];
    for (const folder of [reading, writing]) {
      mkdirSync(folder);
      chownSync(folder, insider.uid, insider.gid);
    }
    await runContained(on, {
      yaml: `docker: { enabled: true, volumes: ["${reading}:/r", "${writing}:/w:rw"] }`,
      prompt: obey(["Bash", { command: "touch /r/x; touch /w/x" }]),
    });
    expect(readdirSync(reading)).toEqual([]);
    expect(readdirSync(writing)).toEqual(["x"]);
  });

  test("that are missing are refused, and not made", async () => {
    const on = await dockerStage(engine);
    const source = join(on.home, "nowhere");
    const { job } = await runContained(on, {
      yaml: `docker: { enabled: true, volumes: ["${source}:/v"] }`,
    });
    expect(job.outcome).toMatchObject({ code: "workspace_missing" });
    expect(job.outcome?.message).toContain("does not exist");
    expect(existsSync(source)).toBe(false);
  });

  test.each(["/etc", "/proc", "/run", homedir()])(
    "a link that leads to %s by the time of the start is refused",
    async (target) => {
      const on = await dockerStage(engine);
      const link = join(on.home, "link");
      mkdirSync(join(on.home, "harmless"));
      symlinkSync(join(on.home, "harmless"), link);
      const agent = agentFor(on, `docker: { enabled: true, volumes: ["${link}:/v"] }`);
      unlinkSync(link);
      symlinkSync(target, link);
      const { job } = await runContained(on, { agent });
      expect(job.outcome).toMatchObject({ code: "workspace_missing" });
      expect(job.outcome?.message).toContain("would be given");
    },
  );
});

async function repository(): Promise<Stage> {
  const on = await dockerStage(engine, { mode: "obedient" });
  const git = gitOf(on);
  git("init", "-q", "-b", "main");
  writeFileSync(join(on.workspace, "file"), "one\n");
  git("add", "file");
  git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "one");
  giveAll(on.workspace);
  return on;
}

/** The host's git, which does not mind whose the workspace is. */
function gitOf(on: Stage): (...args: string[]) => string {
  const safe = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
  };
  return (...args) =>
    execFileSync("git", args, {
      cwd: on.workspace,
      env: { ...on.env, ...safe },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
}

/** What Claude Code reads before it does anything, and git. */
function snapshot(on: Stage) {
  const read = (path: string) => {
    const whole = join(on.workspace, path);
    const entry = lstatSync(whole, { throwIfNoEntry: false });
    return entry?.isFile() ? readFileSync(whole, "utf8") : entry && "no file";
  };
  return {
    config: read(".git/config"),
    hooks: readdirSync(join(on.workspace, ".git/hooks")),
    claude: existsSync(join(on.workspace, ".claude")),
    mcp: read(".mcp.json"),
  };
}
