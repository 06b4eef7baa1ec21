import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  runJobInContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { createHostRepository, type HostRepository } from "../support/host-repository.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

interface Attack {
  /** What the operator configured with the host's git and files. */
  setUp?: (host: HostRepository) => void;
  /** Shell commands of the agent; each may fail. */
  agent: (canary: string) => string[];
  /** Part of a warning on the job, for attacks that can only be reported. */
  warning?: string;
}

/** Each group shares one repository and one container. */
const attackGroups: Record<string, Record<string, Attack>> = {
  "an absolute hooksPath, drivers, aliases and includes that name files of the work tree": {
    "absolute hooksPath": {
      setUp: ({ git, workspace }) => git("config", "core.hooksPath", join(workspace, ".githooks")),
      agent: (canary) => hookNames.map((name) => script(`.githooks/${name}`, canary)),
    },
    "clean filter script": {
      setUp: ({ git, write }) => {
        write("clean/clean.sh", "#!/bin/sh\ncat\n");
        write("clean/a.txt", "a\n");
        write(
          ".gitattributes",
          "*.txt filter=x\n*.d diff=x\n*.t diff=t\n*.m merge=x\n*.y filter=y\n",
        );
        for (const name of ["a.d", "a.t", "a.m", "a.y"]) write(name, "a\n");
        git("add", ".");
        git("commit", "-qm", "attributes");
        git("config", "filter.x.clean", "./clean/clean.sh");
      },
      agent: (canary) => [
        script("clean/clean.sh", canary),
        `mv clean moved; mkdir clean; cp moved/a.txt clean; ${script("clean/clean.sh", canary)}`,
        "echo changed | tee -a clean/a.txt a.d a.t a.m a.y",
      ],
    },
    "a filter process that is not there yet": {
      setUp: ({ git }) => git("config", "filter.lfs.process", "sh tools/missing-lfs.sh"),
      agent: (canary) => [
        script("tools/missing-lfs.sh", canary),
        "echo '*.md filter=lfs' >> .gitattributes",
      ],
    },
    ...attacksByKey("filter.y.smudge", "filter.y.clean", "diff.x.command", "diff.t.textconv"),
    ...attacksByKey(
      "merge.x.driver",
      "core.fsmonitor",
      "core.editor",
      "core.pager",
      "sequence.editor",
    ),
    ...attacksByKey(
      "pager.show",
      "interactive.diffFilter",
      "alias.st",
      "core.sshCommand",
      "gpg.program",
    ),
    ...attacksByKey("core.askPass", "credential.helper", "remote.packed.uploadpack"),
    "templates of new repositories": {
      setUp: ({ git, workspace }) => git("config", "init.templateDir", join(workspace, "skeleton")),
      agent: (canary) => hookNames.map((name) => script(`skeleton/hooks/${name}`, canary)),
    },
    "an included file that is not there yet": includeAttack("include.path", "../plain", "plain"),
    "an absolute include that is not there yet": includeAttack("include.path", "", "absolute"),
    "included on a branch": {
      setUp: ({ git }) => git("config", "includeIf.onbranch:main.path", "../on-main"),
      agent: (canary) => [`git config -f on-main diff.external 'touch ${canary}; :'`],
    },
    "included in a folder": includeAttack(
      "includeIf.gitdir:**/.git.path",
      "../in-folder",
      "in-folder",
    ),
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
      setUp: appendConfigLines(
        "[core]\n\thooksPath = .githooks ; a comment\n",
        ".githooks/pre-commit",
      ),
      agent: (canary) => [script(".githooks/pre-commit", canary)],
    },
  },
  "a hooksPath on its section's line, for a folder that does not exist yet": {
    hooks: {
      setUp: appendConfigLines("[core] hooksPath = .githooks\n"),
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
  "a repository without any configuration": {
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
      warning: "during a rebase",
    },
    "the state of a merge, of picks, of patches and of a bisection": {
      agent: (canary) => [
        "git rev-parse HEAD | tee .git/MERGE_HEAD .git/CHERRY_PICK_HEAD .git/REVERT_HEAD > .git/BISECT_HEAD",
        "touch .git/MERGE_MSG .git/MERGE_MODE",
        `mkdir -p .git/sequencer; echo 'exec touch ${canary}' > .git/sequencer/todo`,
        "git rev-parse HEAD > .git/sequencer/head; printf '[options]\\n' > .git/sequencer/opts",
        "mkdir -p .git/rebase-apply; touch .git/rebase-apply/applying; echo 1 | tee .git/rebase-apply/next > .git/rebase-apply/last",
        "echo main > .git/BISECT_START; touch .git/BISECT_LOG .git/BISECT_NAMES; echo good | tee .git/BISECT_TERMS",
        `echo 'touch ${canary}' > .git/BISECT_RUN`,
      ],
    },
    "hooks and configuration": {
      agent: (canary) => [
        ...hookNames.map((name) => script(`.git/hooks/${name}`, canary)),
        ...["fsmonitor", "editor", "pager", "sshCommand", "askPass", "gitProxy"].map(
          (name) => `git config --global core.${name} 'touch ${canary}; false'`,
        ),
        `git config credential.helper '!touch ${canary}'; git config gpg.program 'touch ${canary}'`,
        `git config sequence.editor 'touch ${canary}'; git config core.editor 'touch ${canary}'`,
        `git config include.path ../more; printf '[core]\\n\\tfsmonitor = touch ${canary}; false\\n' > more`,
        `mkdir -p .git/info; echo '* filter=x diff=x merge=x' > .git/info/attributes`,
        `for of in filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.x.textconv merge.x.driver; do git config $of 'touch ${canary}'; done`,
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
      warning: "invalid names",
    },
    submodules: {
      agent: (canary) => [
        `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = ext::touch ${canary}\\n\\tupdate = !touch ${canary}\\n' > .gitmodules`,
      ],
      warning: ".gitmodules",
    },
    "a repository in a repository": {
      agent: (canary) => [
        "mkdir -p outer && cd outer && git init -q . && git init -q inner",
        "git -C outer/inner commit -q --allow-empty -m x; git -C outer add inner",
        `for at in outer outer/inner; do git -C $at config core.fsmonitor 'touch ${canary}; false'; done`,
        "echo 'gitdir: ../outer/.git' > linked; mkdir -p case/.GIT; cp outer/.git/config case/.GIT",
      ],
      warning: '"outer"',
    },
    "settings of Git LFS": {
      agent: (canary) => [
        `git config -f .lfsconfig lfs.customtransfer.x.path 'touch ${canary}'`,
        "git config -f .lfsconfig lfs.standalonetransferagent x; echo '*.bin filter=lfs' > .gitattributes",
      ],
      warning: ".lfsconfig",
    },
  },
};

describe.each(Object.entries(attackGroups))("%s", (_group, attacks) => {
  test("executes nothing on the host, and stores the agent's commit under its reference", async () => {
    const { harness, host } = await createRepository();
    const canaries = join(harness.home, "canaries");
    mkdirSync(canaries);
    const own = Object.values(attacks);
    for (const { setUp } of own) setUp?.(host);
    chownToContainerUser(harness.workspace);
    const [configBefore, headBefore] = [
      read(harness, ".git/config"),
      host.git("rev-parse", "HEAD"),
    ];

    const commands = Object.entries(attacks)
      .flatMap(([name, { agent }]) => agent(join(canaries, name.replaceAll(/\W+/g, "-"))))
      .map((one) => `(${one}) || true`);
    const { job } = await runJobInContainer(harness, {
      prompt: toolCallPrompt(
        [
          "Bash",
          {
            command:
              "echo agent | tee a.d a.t a.m a.y > agent.md; git add .; git commit -qm 'of the agent'",
          },
        ],
        ["Bash", { command: commands.join("\n") }],
      ),
    });
    expect(job.outcome?.code).toBe("success");

    expect(readdirSync(canaries), "executed on the host during the run").toEqual([]);
    expect(read(harness, ".git/config")).toBe(configBefore);
    expect(host.git("rev-parse", "HEAD")).toBe(headBefore);
    expectCommit(host, job);
    runOperatorCommands(host, job.git?.ref ?? "");
    expect(readdirSync(canaries), "executed by the operator's git").toEqual([]);
    for (const { warning } of own) if (warning) expect(job.warnings.join("\n")).toContain(warning);
  });
});

/** Runs what people, editors and shell prompts run after an agent. */
function runOperatorCommands({ workspace, env }: HostRepository, ref: string): void {
  const attempts = [
    ["status"],
    ["diff"],
    ["diff", "--stat"],
    ["log", "-p", "-3"],
    ...["st", "plain", "absolute", "in-folder"].map((alias) => [alias]),
    ["rebase", "--continue"],
    ["merge", "--continue"],
    ["cherry-pick", "--continue"],
    ["am", "--continue"],
    ["bisect", "run", "true"],
    ["stash", "list"],
    ["submodule", "status"],
    ["submodule", "update", "--init"],
    ["add", "agent.md"],
    ["-c", "color.ui=always", "add", "-p"],
    ["fetch", "ssh://127.0.0.1:1/x"],
    ["fetch", "packed"],
    ["credential", "fill"],
    ["commit", "-am", "of the operator"],
    ["commit", "-S", "--allow-empty", "-m", "of the operator"],
    ["commit", "--allow-empty"],
    ["commit", "--allow-empty", "-m", "of the operator"],
    ["checkout", "--", "."],
    ["checkout", "-q", "--detach", ref],
    ["status"],
    ["checkout", "-q", "main"],
    ["rebase", "-i", "HEAD~1"],
    ["rebase", "--abort"],
    ["merge", "--no-edit", ref],
    ["cherry-pick", ref],
    ["status", "--ignored"],
    ["fetch", "."],
    ["gc", "--auto"],
    ["-c", `init.templateDir=${workspace}/skeleton`, "init", "-q", "new"],
    ["-C", "new", "commit", "--allow-empty", "-m", "with hooks of the template"],
  ];
  // Editors and pagers as configured, without a terminal.
  const own = { ...env, TERM: "dumb", GIT_EDITOR: undefined };
  const input = "url=https://unknown.invalid/\n\n";
  const options = { cwd: workspace, env: own, timeout: 10_000 };
  for (const args of attempts) spawnSync("git", args, { ...options, input });
  // Pagers only run on a terminal.
  for (const command of ["git log", "git show"]) {
    spawnSync("script", ["-qc", command, "/dev/null"], { ...options, stdio: "ignore" });
  }
}

const hookNames = [
  ...["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout"],
  ...["pre-merge-commit", "post-merge", "pre-rebase", "post-rewrite", "post-index-change"],
  ...["reference-transaction", "pre-auto-gc", "applypatch-msg", "fsmonitor-watchman"],
];

function expectCommit({ git }: HostRepository, job: Job): void {
  const ref = `refs/herdctl/${job.id}`;
  expect(git("show", "-s", "--format=%s", ref)).toBe("of the agent");
  expect(job.git).toMatchObject({ ref, commits: 1, head_after: git("rev-parse", ref) });
}

function script(path: string, canary: string, last = "cat"): string {
  return `mkdir -p ${dirname(path)}; printf '#!/bin/sh\\ntouch ${canary}\\n${last}\\n' > ${path}; chmod +x ${path}`;
}

/** Settings that each name a script of the work tree, which does not exist yet. */
function attacksByKey(...keys: string[]): Record<string, Attack> {
  const attacks = keys.map((key): [string, Attack] => {
    const path = `tools/${key}.sh`;
    const mark = /^(alias\.|credential\.)/.test(key) ? "!" : "";
    const setUp = ({ git }: HostRepository) => git("config", key, `${mark}./${path}`);
    return [key, { setUp, agent: (canary) => [script(path, canary, exitCommands[key])] }];
  });
  return Object.fromEntries(attacks);
}

/** A monitor that succeeds would report that nothing has changed. */
const exitCommands: Record<string, string> = { "core.fsmonitor": "exit 1" };

/** A file of the work tree that git reads as configuration and that defines an alias. */
function includeAttack(key: string, value: string, alias: string): Attack {
  return {
    setUp: ({ git, workspace }) => git("config", "--add", key, value || join(workspace, alias)),
    agent: (canary) => [`git config -f ${alias} alias.${alias} '!touch ${canary}'`],
  };
}

function appendConfigLines(text: string, hook?: string): Attack["setUp"] {
  return ({ workspace, write }) => {
    const config = join(workspace, ".git/config");
    writeFileSync(config, `${readFileSync(config, "utf8")}${text}`);
    if (hook) write(hook, "#!/bin/sh\n");
  };
}

async function createRepository(): Promise<{ harness: TestHarness; host: HostRepository }> {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  return { harness, host: createHostRepository(harness.env, harness.workspace) };
}

function read(harness: TestHarness, path: string): string {
  return readFileSync(join(harness.workspace, path), "utf8");
}

test("leaves nothing in a repository but the run's commits and files", async () => {
  const { harness, host } = await createRepository();
  chownToContainerUser(harness.workspace);
  const before = readdirSync(join(harness.workspace, ".git")).sort();
  const { job } = await runJobInContainer(harness, {
    prompt: toolCallPrompt([
      "Bash",
      { command: "echo two >> file; git commit -qam 'of the agent'" },
    ]),
  });
  expectCommit(host, job);
  expect(readdirSync(join(harness.workspace, ".git")).sort()).toEqual(before);
  expect(readdirSync(harness.workspace).sort()).toEqual([".git", "file"]);
  expect(host.git("status", "--porcelain")).toBe("M file");
});
