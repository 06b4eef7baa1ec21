import type { Defence } from "../defence.ts";

const repositoryTest = "test/runner/hostile-repository.test.ts";
const decidersTest = "test/runner/deadline-environment-usage.test.ts";

export const runEnvironmentDefences: readonly Defence[] = [
  {
    name: "a run gets a placeholder for the key",
    protects: "the API key, against tools that print the environment",
    mark: "key-placeholder",
    without: "if ($1 === null) $thenStatement",
    failingTest: {
      file: repositoryTest,
      test: "ignores the repository's hooks, servers and environment, applies its CLAUDE.md and rules, and shows the key to no tool",
    },
  },
  {
    name: "only a short list of variables is inherited",
    protects: "the environment of the user who starts the fleet",
    mark: "inherited-variables",
    without: "if ($3) return true;",
    failingTest: { file: decidersTest, test: "passes a short list of variables and the agent's" },
  },
  {
    name: "a run on the subscription gets no key",
    protects: "the operator's bill",
    mark: "no-key-with-subscription",
    without:
      "for (const one of Object.values(arguments[0])) if (one?.ANTHROPIC_API_KEY) $3.ANTHROPIC_API_KEY = one.ANTHROPIC_API_KEY;",
    failingTest: { file: decidersTest, test: "gives no key to a run on the subscription" },
  },
  {
    name: "an agent's env cannot set reserved variables",
    protects: "a program that passes an agent without checking its configuration",
    mark: "reserved-variables-at-run",
    without: "$3 !== $1.toString()",
    failingTest: { file: decidersTest, test: "ignores an agent's own CLAUDE_CONFIG_DIR" },
  },
  {
    name: "the metadata file must be in the workspace",
    protects: "files of the host, against links that an agent creates",
    mark: "metadata-file-in-workspace",
    without: "if (!$expression.operand.expression($4)) return $5($3);",
    failingTest: {
      file: "test/runner/run-job.test.ts",
      test: "does not read a metadata file outside the workspace",
    },
  },
  {
    name: "an artifact is checked by the file that was opened",
    protects: "files of the host, against links that an agent creates",
    mark: "artifact-in-workspace",
    without: "if (!$expression.operand.expression($4)) return $5($3);",
    failingTest: {
      file: "test/agent-tools/artifact.test.ts",
      test: "exports nothing when a folder is replaced by a link during the copy",
    },
  },
  {
    name: "a note has a name, not a path",
    protects: "files outside the agent's notes",
    mark: "note-name",
    node: "CallExpression",
    without: '!$expression("")',
    failingTest: {
      file: "test/agent-tools/memory.test.ts",
      test: "refuses note names that lead outside the agent's own folder",
    },
  },
  {
    name: "processes with the marker of a run are killed",
    protects: "the machine, against tools that leave processes behind",
    mark: "marked-process-kill",
    without: '$1 === "" && $right',
    failingTest: {
      file: "test/process-tree/kill-process-tree.test.ts",
      test: "by marker and descendants alone ends a process that left its session and lost its parent",
    },
  },
  {
    name: "the marker is a whole entry of the environment",
    protects: "other runs and the user's processes, against our own cleanup",
    mark: "whole-marker",
    without: "return $1.$2(`${$3}=${$4}`);",
    failingTest: {
      file: "test/process-tree/kill-process-tree.test.ts",
      test: "matches one whole entry of the environment",
    },
  },
  {
    name: "a token in a repository's address is sent in a header",
    protects: "tokens, against the process list and the clone",
    mark: "repository-token-header",
    without: "",
    failingTest: {
      file: "test/workspaces/workspaces.test.ts",
      test: "passes a token in a header, never in arguments",
    },
  },
  {
    name: "secrets are masked in the fleet's log",
    protects: "secrets, against everyone who receives the log",
    mark: "log-redaction",
    without: "$expression($3('') + $4)",
    failingTest: { file: "test/fleet/log-file.test.ts", test: "writes no secrets in any field" },
  },
  {
    name: "control characters are escaped",
    protects: "the terminal, against the output of agents",
    mark: "terminal-control-characters",
    without: "(one) => one || $0(one)",
    failingTest: {
      file: "test/cli/trigger-rendering.test.ts",
      test: "neutralizes",
    },
  },
  {
    name: "an approval is used once",
    protects: "a person's permission, against a second use",
    mark: "approval-single-use",
    without: "return ($expression.expression.arguments[0]) !== undefined;",
    failingTest: { file: "test/store/approvals.test.ts", test: "allows one use per permission" },
  },
];
