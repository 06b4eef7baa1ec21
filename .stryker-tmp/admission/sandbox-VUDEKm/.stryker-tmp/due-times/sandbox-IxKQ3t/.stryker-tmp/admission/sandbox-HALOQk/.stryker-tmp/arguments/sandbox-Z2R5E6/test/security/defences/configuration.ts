import type { Defence } from "../defence.ts";

const isolationTest = "test/config/isolation.test.ts";
const trustTest = "test/config/trust.test.ts";
const repositoryTest = "test/runner/hostile-repository.test.ts";

export const configurationDefences: readonly Defence[] = [
  {
    name: "agent files are checked against the fleet file",
    protects: "an agent file that weakens its own container",
    mark: "agent-file-limits",
    without: "return [];",
    failingTest: { file: isolationTest, test: "refuses an agent file that claims a network" },
  },
  {
    name: "strict defaults apply where the fleet file sets nothing",
    protects: "an agent file that requests what the fleet file does not mention",
    mark: "strict-default",
    without: "$left",
    failingTest: { file: isolationTest, test: "refuses an agent file that claims a volume" },
  },
  {
    name: "hooks, gates and host servers of a container agent come from the fleet file",
    protects: "an agent file that runs commands on the host",
    mark: "host-commands-by-fleet-file",
    without: "return [];",
    failingTest: { file: isolationTest, test: "refuses an agent file that claims a hook" },
  },
  {
    name: "an included fleet ranks below the including one",
    protects: "an included fleet that weakens the outer one",
    mark: "included-fleet-rank",
    without: "false",
    failingTest: {
      file: isolationTest,
      test: "keeps an included fleet at least as strict as the outer fleet",
    },
  },
  {
    name: "a file without a trust entry is limited",
    protects: "an agent file that another person may have written",
    mark: "untrusted-by-default",
    without: "true",
    failingTest: { file: trustTest, test: "refuses plugins in a limited file" },
  },
  {
    name: "a limited file gets only the variables of its entry",
    protects: "secrets of the fleet's environment, against an agent file",
    mark: "granted-variables",
    without: "return $1.length >= 0 || $5 === String($1);",
    failingTest: { file: trustTest, test: "refuses a variable in env in a limited file" },
  },
  {
    name: "a limited file chooses only paths below granted folders",
    protects: "folders of the host, against an agent file",
    mark: "granted-folders",
    without: "$3 !== $arguments[1]",
    failingTest: { file: trustTest, test: "refuses a folder elsewhere in a limited file" },
  },
  {
    name: "links are resolved before a chosen path is checked",
    protects: "a link out of the fleet's folder",
    mark: "granted-folder-links",
    without: "const $1 = $3;",
    failingTest: { file: trustTest, test: "follows a link out of the fleet's folder" },
  },
  {
    name: "a limited file reads no schema from the fleet's own files",
    protects: "`.env` and the fleet file, shown to the model as a schema",
    mark: "schema-not-operator-file",
    without: "$left.expression(`${$4}?`)",
    failingTest: {
      file: trustTest,
      test: "refuses the fleet's .env as a schema in a limited file",
    },
  },
  {
    name: "a limited file cannot disable Docker",
    protects: "an agent file that leaves its container and all its limits",
    mark: "no-docker-opt-out",
    node: "PropertyAccessExpression",
    without: "[$1, $2].slice($3.length * 0).$name",
    failingTest: {
      file: trustTest,
      test: "still limits a file that disables Docker",
    },
  },
  {
    name: "a limited file removes no block of the fleet file",
    protects: "`docker: null`, which would remove the fleet file's block",
    mark: "no-block-removal",
    without: "",
    failingTest: { file: trustTest, test: "refuses to remove what the fleet file sets in docker" },
  },
  {
    name: "a limited file names no agent with more reach",
    protects: "an agent on the host, against prompts of a container agent",
    mark: "delegation-reach",
    without: "if ($1 !== null) return [];",
    failingTest: { file: trustTest, test: "refuses an agent on the host in a limited file" },
  },
  {
    name: "tool rules of a limited file name no MCP server on the host",
    protects: "MCP servers of the fleet file, against `allowed_tools` of an agent file",
    mark: "host-server-rules",
    without: "$1 !== null || $right",
    failingTest: { file: trustTest, test: "refuses tools of a host server in a limited file" },
  },
  {
    name: "MCP servers on the host follow the tool rules of the fleet file",
    protects: "MCP servers of the fleet file, against `bypassPermissions` of an agent file",
    mark: "host-server-tools",
    without: "$right",
    failingTest: {
      file: "test/runtimes/mcp-server-placement.test.ts",
      test: "applies the fleet file's rules to host servers where a limited agent file has other rules",
    },
  },
  {
    name: "an included fleet cannot grant more than it was granted",
    protects: "an included fleet that trusts its own files",
    mark: "grants-accumulate",
    without: "$condition ? [] : [$whenFalse.elements[1]]",
    failingTest: {
      file: trustTest,
      test: "refuses a grant beyond what the included fleet was granted",
    },
  },
  {
    name: "an agent in Docker counts as untrusted",
    protects: "agents that it delegates to, against a log that a container forged",
    mark: "docker-log-untrusted",
    without: "",
    failingTest: {
      file: "test/agent-tools/untrusted-input.test.ts",
      test: "marks an agent in Docker as untrusted, whatever its log contains",
    },
  },
  {
    name: "a tool counts as untrusted unless it is known to bring nothing in",
    protects: "text of a repository or a page, passed on as an agent's own",
    mark: "unknown-tool-untrusted",
    without: '$3.startsWith("Web")',
    failingTest: {
      file: "test/agent-tools/untrusted-input.test.ts",
      test: "marks an agent that used Bash as untrusted",
    },
  },
  {
    name: "the engine's socket is found by DOCKER_HOST",
    protects: "the container engine, and with it the whole machine",
    mark: "engine-socket-by-docker-host",
    without: '...($1 === "" ? [$1] : [])',
    failingTest: {
      file: isolationTest,
      test: "refuses the engine's socket named by DOCKER_HOST, and folders that contain it",
    },
  },
  {
    name: "no container gets a folder of secrets",
    protects: "the user's keys and logins",
    mark: "no-secret-folder",
    without: "undefined",
    failingTest: { file: isolationTest, test: "as workspace and as volume, even read-only" },
  },
  {
    name: "links are resolved before a folder is checked",
    protects: "a link to a folder of secrets",
    mark: "mount-links",
    without: "if ($expression) return $2;",
    failingTest: { file: isolationTest, test: "resolves a link to a secret folder" },
  },
  {
    name: "no container may write the operator's files",
    protects: "the files that limit a container",
    mark: "no-operator-file-mount",
    without: "if ($1 !== null) return [];",
    failingTest: { file: isolationTest, test: "refuses the fleet's own folder as writable" },
  },
  {
    name: "the host runs no file that a container may write",
    protects: "a hook or gate that names the agent's own script",
    mark: "no-host-command-from-mount",
    without: "if ($1 !== null) return [];",
    failingTest: {
      file: "test/config/hooks.test.ts",
      test: "refuses a file that a container may write:",
    },
  },
  {
    name: "agents cannot set reserved variables",
    protects: "credentials and addresses, against an agent's own env",
    mark: "reserved-variables",
    without: "",
    failingTest: {
      file: "test/config/validation-errors.test.ts",
      test: "refuses ANTHROPIC_BASE_URL in an agent, because herdctl sets it",
    },
  },
  {
    name: "values of the environment are masked",
    protects: "secrets in the output of `config show`",
    mark: "masked-variables",
    without: "",
    failingTest: {
      file: "test/config/show-config.test.ts",
      test: "masks secrets in every field",
    },
  },
  {
    name: "the rule of two follows the origin of values",
    protects: "a secret that the configuration passes on under another name",
    mark: "origin-of-values",
    without: "const $1: string[] = [];",
    failingTest: {
      file: "test/doctor/rule-of-two.test.ts",
      test: "classifies an agent with a key under another name",
    },
  },
  {
    name: "hooks that post count as ways out in the rule of two",
    protects: "results of a container agent that a hook on the host sends",
    mark: "posting-hooks-count",
    without: "",
    failingTest: {
      file: "test/doctor/rule-of-two.test.ts",
      test: "classifies an agent whose hooks post",
    },
  },
  {
    name: "settings of the repository are ignored",
    protects: "hooks, environment and key helper of a hostile repository",
    mark: "no-repository-settings",
    without: "",
    failingTest: {
      file: repositoryTest,
      test: "cli ignores the repository's hooks, servers and environment",
    },
  },
  {
    name: "servers of the repository are ignored",
    protects: "servers of a repository whose settings are enabled, and those of the user",
    mark: "strict-mcp-config",
    without: "",
    failingTest: {
      file: repositoryTest,
      test: "cli enables the repository's settings for a named agent",
    },
  },
];
