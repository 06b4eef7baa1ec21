import type { Defence } from "../defence.ts";

const attacksTest = "test/docker/git-attacks.test.ts";
const privateGitTest = "test/docker/private-git.test.ts";
const gitCrashTest = "test/private-git/import-crash.test.ts";
const gitFoldersTest = "test/private-git/leftover-repositories.test.ts";

export const gitDefences: readonly Defence[] = [
  {
    name: "a container never gets the host's `.git`",
    protects: "the host, against planted hooks and configuration",
    mark: "private-git-folder",
    without:
      "export function $name($parameters): $type { $body.statements[0] return [{ $body.statements[4].thenStatement.statements[0].expression.elements[0].properties[0].name: $body.statements[1].declarationList.declarations[0].initializer.left.arguments[0], $body.statements[4].thenStatement.statements[0].expression.elements[0].properties[1], $body.statements[4].thenStatement.statements[0].expression.elements[0].properties[2] }]; }",
    failingTest: { file: attacksTest, test: "a repository without any configuration" },
  },
  {
    name: "files that the operator's git names are mounted read-only",
    protects: "the host, against hooks, filters and included configuration in the work tree",
    mark: "git-named-files-read-only",
    without: "if ($5 === undefined) $1($2, $3, $4);",
    failingTest: {
      file: attacksTest,
      test: "an absolute hooksPath, drivers, aliases and includes that name files of the work tree",
    },
  },
  {
    name: "scripts that husky hooks call are mounted read-only",
    protects: "the host, against scripts that a hook calls",
    mark: "husky-files-read-only",
    without: 'if ($1 === "") $thenStatement',
    failingTest: { file: attacksTest, test: "husky" },
  },
  {
    name: "repositories inside a workspace are mounted read-only",
    protects: "the host, whose git reads submodules automatically",
    mark: "nested-repositories-read-only",
    without: "",
    failingTest: {
      file: privateGitTest,
      test: "mounts repositories inside the workspace read-only",
    },
  },
  {
    name: "a `.git` file counts only if its repository names the workspace",
    protects: "other repositories of the user, against an unpacked archive",
    mark: "git-file-points-back",
    without: '$2 === "" && $0',
    failingTest: {
      file: privateGitTest,
      test: "exposes nothing of another folder's repository that a `.git` file names",
    },
  },
  {
    name: "credentials of remotes stay out of the private configuration",
    protects: "tokens in the addresses of remotes",
    mark: "no-remote-credentials",
    without: "$arguments[1] || $0",
    failingTest: {
      file: privateGitTest,
      test: "borrows objects from the repository's alternates without an error of git",
    },
  },
  {
    name: "links in a private git directory are not followed",
    protects: "other files and repositories of the host",
    mark: "private-git-no-links",
    without: "$left || $right",
    failingTest: {
      file: "test/private-git/untrusted-repository.test.ts",
      test: "does not follow a link in the path of a file",
    },
  },
  {
    name: "references of a run have names that git allows",
    protects: "the repository, against names that lead out of their folder",
    mark: "safe-ref-names",
    without: '$2 === "" && $0',
    failingTest: {
      file: "test/private-git/untrusted-repository.test.ts",
      test: "reads references as plain files and omits what git does not allow",
    },
  },
  {
    name: "an interrupted import gives the same result when repeated",
    protects: "the record of a job, against a crash between the import and its report",
    mark: "import-result-kept",
    without: "null",
    failingTest: { file: gitCrashTest, test: "gives the same answer when the first one was lost" },
  },
  {
    name: "a branch moved by an interrupted import is not taken for the host's own",
    protects: "the record of a job, against a crash during the import",
    mark: "cut-off-import-branch",
    without: "undefined",
    failingTest: {
      file: gitCrashTest,
      test: "imports commits once, whichever step the import is killed after",
    },
  },
  {
    name: "a stale lock is removed from a run's reference",
    protects: "commits of a run, against a crash while its reference is written",
    mark: "stale-ref-lock",
    without: "`${$1}.no-lock`",
    failingTest: {
      file: gitCrashTest,
      test: "imports commits despite a stale lock of a killed git on the run's reference",
    },
  },
  {
    name: "commits of an earlier attempt are kept",
    protects: "commits of a job, against the next attempt overwriting the reference",
    mark: "earlier-commits-kept",
    without: "true",
    failingTest: {
      file: gitCrashTest,
      test: "keeps commits of an attempt when the next one starts elsewhere",
    },
  },
  {
    name: "recovery keeps a git directory while its container may be running",
    protects: "commits of a run, against an engine that does not answer",
    mark: "git-kept-while-container-runs",
    without: "const $1 = $2 ? [] : $3;",
    failingTest: {
      file: gitCrashTest,
      test: "imports a dead runner's commits in its recovery, and later ones of its container as well",
    },
  },
  {
    name: "git directories of dead runs are imported and removed",
    protects: "commits of a run and the disk, when its job has moved to another node",
    mark: "git-leftovers-of-dead-runs",
    without: "$thenStatement",
    failingTest: {
      file: gitFoldersTest,
      test: "imports commits of a dead run later and keeps only what a run needs",
    },
  },
  {
    name: "a git directory with a damaged record is kept",
    protects: "commits of a run, against a power failure",
    mark: "damaged-git-record-kept",
    without: "$1 !== undefined && !$right",
    failingTest: {
      file: gitFoldersTest,
      test: "keeps a directory with an unreadable record, because it may contain commits",
    },
  },
  {
    name: "a job that runs on another node is not running here",
    protects: "the machine, against containers of a job that has moved",
    mark: "other-node-job",
    without: "$left === null",
    failingTest: { file: gitFoldersTest, test: "decides whether a job that runs on another node" },
  },
  {
    name: "commits are imported after each turn",
    protects: "commits of a live session, against its end",
    mark: "commits-after-each-turn",
    without: "return $expression.whenFalse;",
    failingTest: {
      file: "test/docker/keep-alive.test.ts",
      test: "starts a conversation in a pre-started container and continues in it, with one job and its commits per turn",
    },
  },
  {
    name: "parent folders are separate mounts",
    protects: "the host, against a folder that is moved aside",
    mark: "parent-folders-pinned",
    without: "",
    failingTest: {
      file: attacksTest,
      test: "an absolute hooksPath, drivers, aliases and includes that name files of the work tree",
    },
  },
];
