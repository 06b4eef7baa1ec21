import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { dockerStage, giveAll, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { type HostGit, makeRepository } from "../support/host-git.ts";
import { obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();

interface Attack {
  /** What the operator has set up, with the host's git and files. */
  setUp?: (host: HostGit) => void;
  /** Shell commands of the agent; each may fail. */
  agent: (canary: string) => string[];
  /** Part of a warning on the job, where something can only be reported. */
  warning?: string;
}

/** Each group is one repository and one container. */
const groups: Record<string, Record<string, Attack>> = {
  "an absolute hooksPath, drivers, aliases and includes that name files of the work tree": {
    "absolute hooksPath": {
      setUp: ({ git, workspace }) => git("config", "core.hooksPath", join(workspace, ".githooks")),
      agent: (canary) => [script(".githooks/pre-commit", canary)],
    },
    "clean filter script": {
      setUp: ({ git, write }) => {
        write("tools/clean.sh", "#!/bin/sh\ncat\n");
        write(".gitattributes", "*.txt filter=x diff=x merge=x\n");
        write("a.txt", "a\n");
        git("config", "filter.x.clean", "./tools/clean.sh");
        git("config", "filter.lfs.process", "sh tools/missing-lfs.sh");
      },
      agent: (canary) => [
        script("tools/clean.sh", canary),
        script("tools/missing-lfs.sh", canary),
        `mv tools moved; ${script("tools/clean.sh", canary)}`,
        "echo changed >> a.txt",
        "echo '*.md filter=lfs' >> .gitattributes",
      ],
    },
    "diff and merge drivers": {
      setUp: ({ git }) => {
        git("config", "diff.x.command", "./tools/diff.sh");
        git("config", "diff.x.textconv", "$(git rev-parse --show-toplevel)/tools/textconv.sh");
        git("config", "merge.x.driver", "./tools/merge.sh %O %A %B");
      },
      agent: (canary) =>
        ["diff", "textconv", "merge"].map((name) => script(`tools/${name}.sh`, canary)),
    },
    "file system monitor, editors, pagers and aliases": {
      setUp: ({ git }) => {
        git("config", "core.fsmonitor", "./tools/fsmonitor.sh");
        git("config", "core.editor", "./tools/editor.sh");
        git("config", "core.pager", "./tools/pager.sh");
        git("config", "sequence.editor", "./tools/sequence.sh");
        git("config", "alias.st", "!./tools/alias.sh");
      },
      agent: (canary) =>
        ["fsmonitor", "editor", "pager", "sequence", "alias"].map((name) =>
          script(`tools/${name}.sh`, canary),
        ),
    },
    "an included file that is not there yet": {
      setUp: ({ git }) => git("config", "--add", "include.path", "../.gitconfig"),
      agent: (canary) => [
        `printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' > .gitconfig`,
        `git config -f .gitconfig alias.log '!touch ${canary}'`,
      ],
    },
    "an absolute include that is not there yet": {
      setUp: ({ git, workspace }) =>
        git("config", "--add", "include.path", join(workspace, "conf/git/more")),
      agent: (canary) => [
        "mkdir -p conf/git",
        `printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' > conf/git/more`,
      ],
    },
    "worktreeConfig without a value": {
      setUp: ({ workspace }) => {
        const config = join(workspace, ".git/config");
        writeFileSync(config, `${readFileSync(config, "utf8")}[extensions]\n\tworktreeConfig\n`);
      },
      agent: (canary) => [
        `printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' > .git/config.worktree`,
      ],
    },
  },
  "a hooksPath with a comment": {
    hooks: {
      setUp: configLines("[core]\n\thooksPath = .githooks ; a comment\n", ".githooks/pre-commit"),
      agent: (canary) => [script(".githooks/pre-commit", canary)],
    },
  },
  "a hooksPath on the line of its section, for a folder that is not there yet": {
    hooks: {
      setUp: configLines("[core] hooksPath = .githooks\n"),
      agent: (canary) => [script(".githooks/pre-commit", canary)],
    },
  },
  husky: {
    hooks: {
      setUp: ({ git, write }) => {
        git("config", "core.hooksPath", ".husky/_");
        write(".husky/pre-commit", "true\n");
        write(".husky/_/pre-commit", '#!/bin/sh\nsh "$(dirname "$0")/../pre-commit"\n');
      },
      agent: (canary) => [
        script(".husky/pre-commit", canary),
        script(".husky/_/pre-commit", canary),
        `mv .husky h; mkdir -p .husky/_; ${script(".husky/_/pre-commit", canary)}`,
      ],
    },
  },
  "an included file that sets hooksPath": {
    hooks: {
      setUp: ({ git, write }) => {
        write(".gitconfig", "[core]\n\thooksPath = .githooks\n");
        git("config", "include.path", "../.gitconfig");
      },
      agent: (canary) => [script(".githooks/pre-commit", canary)],
    },
  },
  "a repository in which nothing is set up": {
    "a gitlink in the index": {
      agent: (canary) => [
        "git init -q sub; git -C sub commit -q --allow-empty -m x",
        `git -C sub config core.fsmonitor 'touch ${canary}; false'`,
        "git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub",
      ],
      warning: '"sub"',
    },
    "the steps of a rebase": {
      agent: (canary) => [
        "mkdir -p .git/rebase-merge",
        "git rev-parse HEAD | tee .git/rebase-merge/onto > .git/rebase-merge/orig-head",
        "echo refs/heads/main > .git/rebase-merge/head-name",
        `echo 'exec touch ${canary}' > .git/rebase-merge/git-rebase-todo`,
        "touch .git/rebase-merge/done .git/rebase-merge/interactive; echo 1 > .git/rebase-merge/msgnum",
        "echo 1 > .git/rebase-merge/end",
      ],
      warning: "in the middle of a rebase",
    },
    "hooks and configuration": {
      agent: (canary) => [
        script(".git/hooks/pre-commit", canary),
        script(".git/hooks/post-index-change", canary),
        script(".git/hooks/reference-transaction", canary),
        `git config core.fsmonitor 'touch ${canary}; false'`,
        `git config core.sshCommand 'touch ${canary}'`,
        `git config uploadpack.packObjectsHook 'touch ${canary}'`,
        `git config alias.status '!touch ${canary}'`,
        `git config gc.recentObjectsHook 'touch ${canary}'`,
      ],
    },
    "a common directory and another .git": {
      agent: (canary) => [
        `mkdir -p evil; cp -r .git/HEAD .git/refs .git/objects evil; printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' > evil/config`,
        "echo ../evil > .git/commondir",
        "mv .git .git2; rmdir .git; ln -s evil .git",
      ],
      warning: "bare repository",
    },
    "damaged indexes of objects and borrowed objects": {
      agent: () => [
        "mkdir -p .git/objects/info; echo garbage > .git/objects/info/commit-graph",
        "echo garbage > .git/objects/pack/multi-pack-index",
        "printf '/etc\\n/root\\n/proc/1/root\\n' >> .git/objects/info/alternates",
        "echo garbage > .git/objects/pack/pack-0000000000000000000000000000000000000000.pack",
        "mkfifo .git/objects/00 .git/refs/heads/pipe .git/refs/tags/pipe",
        "ln -s /etc/passwd .git/refs/heads/link; ln -s /etc .git/refs/heads/folder",
        "mkdir -p .git/refs/heads/deep; git rev-parse HEAD > '.git/refs/heads/deep/..x'",
        'echo "$(git rev-parse HEAD) refs/heads/../../config" >> .git/packed-refs',
        'echo "$(git rev-parse HEAD) refs/heads/-option" >> .git/packed-refs',
      ],
      warning: "names that git does not allow",
    },
    submodules: {
      agent: (canary) => [
        `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = ext::touch ${canary}\\n\\tupdate = !touch ${canary}\\n' > .gitmodules`,
      ],
      warning: ".gitmodules",
    },
  },
};

describe.each(Object.entries(groups))("%s", (_group, attacks) => {
  test("executes nothing on the host, and the agent's commit is in its reference", async () => {
    const { on, host } = await repository();
    const canary = join(on.home, "CANARY");
    const own = Object.values(attacks);
    for (const { setUp } of own) setUp?.(host);
    giveAll(on.workspace);
    const [configBefore, headBefore] = [read(on, ".git/config"), host.git("rev-parse", "HEAD")];

    const commands = own.flatMap(({ agent }) => agent(canary)).map((one) => `(${one}) || true`);
    const { job } = await runContained(on, {
      prompt: obey(
        [
          "Bash",
          { command: "echo agent > agent.md; git add agent.md; git commit -qm 'of the agent'" },
        ],
        ["Bash", { command: commands.join("\n") }],
      ),
    });
    expect(job.outcome?.code).toBe("success");

    if (existsSync(canary)) expect.fail("it was executed on the host during the run");
    actAsOperator(host);
    expect(existsSync(canary)).toBe(false);
    expect(read(on, ".git/config")).toBe(configBefore);
    expect(host.git("rev-parse", "ORIGIN_OF_TEST")).toBe(headBefore);
    expectCommit(host, job);
    for (const { warning } of own) if (warning) expect(job.warnings.join("\n")).toContain(warning);
  });
});

/** What people, editors and prompts of shells do after a run. */
function actAsOperator({ git, workspace, env }: HostGit): void {
  git("update-ref", "ORIGIN_OF_TEST", "HEAD");
  const attempts = [
    ["status"],
    ["diff"],
    ["diff", "--stat"],
    ["log", "-p", "-3"],
    ["rebase", "--continue"],
    ["stash", "list"],
    ["submodule", "status"],
    ["commit", "-am", "of the operator"],
    ["commit", "--allow-empty", "-m", "of the operator"],
    ["status", "--ignored"],
    ["fetch", "."],
    ["gc", "--auto"],
  ];
  for (const args of attempts) spawnSync("git", args, { cwd: workspace, env });
}

function expectCommit({ git }: HostGit, job: Job): void {
  const ref = `refs/herdctl/${job.id}`;
  expect(git("show", "-s", "--format=%s", ref)).toBe("of the agent");
  expect(job.git).toMatchObject({ ref, commits: 1, head_after: git("rev-parse", ref) });
}

function script(path: string, canary: string): string {
  return `mkdir -p ${dirname(path)}; printf '#!/bin/sh\\ntouch ${canary}\\ncat\\n' > ${path}; chmod +x ${path}`;
}

function configLines(text: string, hook?: string): Attack["setUp"] {
  return ({ workspace, write }) => {
    const config = join(workspace, ".git/config");
    writeFileSync(config, `${readFileSync(config, "utf8")}${text}`);
    if (hook) write(hook, "#!/bin/sh\n");
  };
}

async function repository(): Promise<{ on: Stage; host: HostGit }> {
  const on = await dockerStage(engine, { mode: "obedient" });
  return { on, host: makeRepository(on.env, on.workspace) };
}

function read(on: Stage, path: string): string {
  return readFileSync(join(on.workspace, path), "utf8");
}

test("nothing of a run is left in a repository but its commits and files", async () => {
  const { on, host } = await repository();
  giveAll(on.workspace);
  const before = readdirSync(join(on.workspace, ".git")).sort();
  const { job } = await runContained(on, {
    prompt: obey(["Bash", { command: "echo two >> file; git commit -qam 'of the agent'" }]),
  });
  expectCommit(host, job);
  expect(readdirSync(join(on.workspace, ".git")).sort()).toEqual(before);
  expect(readdirSync(on.workspace).sort()).toEqual([".git", "file"]);
  expect(host.git("status", "--porcelain")).toBe("M file");
});
