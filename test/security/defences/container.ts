import type { Defence } from "../defence.ts";

const specTest = "test/docker/container-spec.test.ts";
const workspaceTest = "test/docker/workspace-protection.test.ts";
const specReviewTest = {
  file: specTest,
  test: "matches the reviewed description of a default container",
};

export const containerDefences: readonly Defence[] = [
  {
    name: "all capabilities are dropped",
    protects: "the host's kernel",
    mark: "cap-drop",
    without: "$name: []",
    failingTest: {
      file: "test/docker/container-inspect.test.ts",
      test: "satisfies every applicable item of the CIS Docker Benchmark",
    },
  },
  {
    name: "no new privileges",
    protects: "the host's kernel, against set-uid programs",
    mark: "no-new-privileges",
    without: "$name: [$2]",
    failingTest: specReviewTest,
  },
  {
    name: "a seccomp profile of our own",
    protects: "the host's kernel, against io_uring, keyrings and rare socket families",
    mark: "seccomp-profile",
    without: '$name: ["no-new-privileges:true"]',
    failingTest: {
      file: "test/docker/seccomp.test.ts",
      test: "fails dangerous system calls in a container",
    },
  },
  {
    name: "a container is created from the image's id",
    protects: "the container, against a tag that is moved to another image before the start",
    mark: "image-by-id",
    without: '$name: "image:latest"',
    failingTest: {
      file: specTest,
      test: "names the image by id, so that a moved tag changes nothing",
    },
  },
  {
    name: "a limit of processors by default",
    protects: "the processors of the machine",
    mark: "default-cpus",
    without: "$left",
    failingTest: {
      file: specTest,
      test: "limits processors to 2 or fewer on a smaller engine, and sets no limit where the engine has none",
    },
  },
  {
    name: "a limit on the size of a file",
    protects: "the disk of the machine",
    mark: "file-size-limit",
    without: "",
    failingTest: specReviewTest,
  },
  {
    name: "the service gains no privileges",
    protects: "the machine, against agents on the host that use set-uid programs",
    mark: "service-no-new-privileges",
    without: "",
    failingTest: {
      file: "test/system-service/unit-files.test.ts",
      test: "matches the reviewed systemd unit",
    },
  },
  {
    name: "a limit on the length of a message",
    protects: "the memory of the runner, against a flood that imitates `claude`",
    mark: "message-length-limit",
    without: "$expression.expression($5);",
    failingTest: {
      file: "test/docker/host-resources.test.ts",
      test: "keeps memory and disk bounded in a flood of messages, and keeps the result, with runtime",
    },
  },
  {
    name: "a limit on the backlog of the log",
    protects: "the memory of the runner, on a slow disk",
    mark: "log-backlog-limit",
    without: "if ($3 === -1) $thenStatement",
    failingTest: {
      file: "test/runtimes/output-limit.test.ts",
      test: "drops messages for a slow reader and reports how many",
    },
  },
  {
    name: "a limit on the size of a job's log",
    protects: "the disk of the state",
    mark: "job-log-size-limit",
    without: "if ($2 !== -1) $thenStatement",
    failingTest: {
      file: "test/store/job-output.test.ts",
      test: "keeps only results in a log at its size limit, with one marker",
    },
  },
  {
    name: "a limit on small files that an agent can write beside its transcript",
    protects: "the memory of fleet and runner",
    mark: "session-file-size-limit",
    without: "$left",
    failingTest: {
      file: "test/session-files/untrusted-files.test.ts",
      test: "does not read a small file that has grown large",
    },
  },
  {
    name: "a run is stopped before it fills the disk",
    protects: "the disk of the workspace and of the state",
    mark: "disk-limit",
    without: "",
    failingTest: {
      file: "test/docker/host-resources.test.ts",
      test: "stops a run before it fills the disk of its workspace, and starts none on a full disk",
    },
  },
  {
    name: "a read-only mount is read-only recursively",
    protects: "file systems mounted below a folder that a container gets read-only",
    mark: "read-only-throughout",
    without: "$arguments[0]",
    failingTest: {
      file: "test/docker/read-only-mounts.test.ts",
      test: "over a writable file system below it",
    },
  },
  {
    name: "no swap in addition to the memory",
    protects: "the memory of the machine",
    mark: "no-swap",
    without: "",
    failingTest: specReviewTest,
  },
  {
    name: "a limit on processes",
    protects: "the machine, against a fork bomb",
    mark: "pids-limit",
    without: "",
    failingTest: specReviewTest,
  },
  {
    name: "the root is read-only",
    protects: "the image's own programs",
    mark: "read-only-root",
    without: "",
    failingTest: specReviewTest,
  },
  {
    name: "only the configured network",
    protects: "everything that the machine can reach",
    mark: "configured-network",
    without: '$name: "bridge"',
    failingTest: {
      file: "test/docker/secret-exfiltration.test.ts",
      test: "keeps a canary key from an obedient model that wants to post it",
    },
  },
  {
    name: "the host's environment stays out of the container",
    protects: "paths, sockets and names of the host",
    mark: "container-variables",
    without: "$arguments[0] || $0",
    failingTest: {
      file: "test/docker/job.test.ts",
      test: "keeps the key in the gateway and everything else of the machine out of the container",
    },
  },
  {
    name: "root in the workspace is not root in the container",
    protects: "the host's files, in a workspace of root",
    mark: "no-root-in-container",
    node: "BinaryExpression",
    without: "$left < 0",
    failingTest: {
      file: workspaceTest,
      test: "refuses a workspace that the user cannot write, with a hint",
    },
  },
  {
    name: "hidden files are not exported from a container",
    protects: "keys and tokens of the fleet, against the artifact tool and the metadata file",
    mark: "hidden-paths-not-collected",
    without: "[$elements[1], $elements[2]].slice($1.length)",
    failingTest: {
      file: "test/docker/hidden-files.test.ts",
      test: "does not export hidden files as artifact or metadata",
    },
  },
  {
    name: "settings of Claude Code are mounted read-only",
    protects: "the user, who opens the workspace by hand",
    mark: "claude-settings-read-only",
    without: "",
    failingTest: {
      file: workspaceTest,
      test: "prevents planting such a file in a repository, and leaves no trace of the attempt",
    },
  },
  {
    name: "MCP servers of the workspace are mounted read-only",
    protects: "the user, who opens the workspace by hand",
    mark: "mcp-json-read-only",
    without: "",
    failingTest: {
      file: workspaceTest,
      test: "prevents planting such a file in a repository, and leaves no trace of the attempt",
    },
  },
  {
    name: "a link in place of a guarded file is refused",
    protects: "the host, against a mount that is redirected",
    mark: "guarded-path-link",
    without: "$right",
    failingTest: {
      file: workspaceTest,
      test: "refuses a link in place of such a file, because its target could be changed",
    },
  },
  {
    name: "folders are checked again at the start",
    protects: "secrets, against a link that was changed meanwhile",
    mark: "mounts-checked-at-start",
    without: "if ($1 !== null) $thenStatement",
    failingTest: {
      file: workspaceTest,
      test: "refuses a link that leads to /etc at the time of the start",
    },
  },
  {
    name: "volumes are read-only by default",
    protects: "folders that are mounted for reading",
    mark: "volume-read-only",
    without: "false",
    failingTest: { file: workspaceTest, test: "mounts volumes read-only unless they say rw" },
  },
  {
    name: "links beside a transcript are not followed",
    protects: "files of the host and of other agents, against links in the agent's own sessions",
    mark: "session-file-no-follow",
    without: "$left.left | $right",
    failingTest: {
      file: "test/session-files/untrusted-files.test.ts",
      test: "does not follow a link in place of a transcript",
    },
  },
  {
    name: "folders beside a transcript must not be links",
    protects: "sessions of other agents",
    mark: "session-folder-no-link",
    without: "$0 || $parameters[0].isSymbolicLink()",
    failingTest: {
      file: "test/session-files/untrusted-files.test.ts",
      test: "reads no foreign file through a link in place of one/subagents",
    },
  },
  {
    name: "requests to a bridged server follow a list of methods",
    protects: "servers on the host, against programs in the container that imitate claude",
    mark: "bridge-method-list",
    without: "$left || $right.expression !== undefined",
    failingTest: {
      file: "test/runtimes/mcp-allowed-methods.test.ts",
      test: "answers a refused method with an error that names it",
    },
  },
  {
    name: "resources of a bridged server need a rule that names them",
    protects: "data on the host, against programs in the container that imitate claude",
    mark: "bridge-resource-rules",
    without: 'return $1 !== "plan" || $expression.right;',
    failingTest: {
      file: "test/runtimes/mcp-allowed-methods.test.ts",
      test: "reads a resource of a bridged server only when the rules allow it",
    },
  },
  {
    name: "a bridged server can request nothing from claude",
    protects: "the model and the user, against a server that requests samples and answers",
    mark: "bridge-requests-to-claude",
    node: "ParenthesizedExpression",
    without: "$expression.condition || $3",
    failingTest: {
      file: "test/runtimes/mcp-allowed-methods.test.ts",
      test: "forwards only listed requests and notifications of a server to claude",
    },
  },
  {
    name: "tool rules are enforced outside the container",
    protects: "servers on the host, against processes that imitate claude",
    mark: "bridge-denied-tools",
    without: "if ($4) return true;",
    failingTest: {
      file: "test/runtimes/mcp-in-docker.test.ts",
      test: "cli refuses forged tool calls from the container",
    },
  },
  {
    name: "a leftover process ends the container",
    protects: "the next turn, against a process of an earlier one",
    mark: "leftover-ends-container",
    without: "return $1.length === 0;",
    failingTest: {
      file: "test/docker/keep-alive.test.ts",
      test: "removes a container with a leftover process and continues the session in another",
    },
  },
  {
    name: "a container with outdated inputs is not used again",
    protects: "the host, against a repository that was created after the container",
    mark: "container-fingerprint",
    without: '$right === ""',
    failingTest: {
      file: "test/docker/keep-alive.test.ts",
      test: "uses a new container when its inputs have changed",
    },
  },
];
