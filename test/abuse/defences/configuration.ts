import type { Defence } from "../defence.ts";

const isolation = "packages/core/src/config/isolation.ts";
const boundary = "packages/core/src/config/boundary.ts";
const isolationTest = "test/config/isolation.test.ts";
const repositoryTest = "test/runner/hostile-repository.test.ts";

export const configurationDefences: readonly Defence[] = [
  {
    name: "agent files are held against the fleet file",
    guards: "an agent file that loosens its own container",
    edit: {
      file: isolation,
      from: "...dockerProblems(layer.tree, said, isAgent, runsInDocker),",
      to: "",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a network" },
  },
  {
    name: "the strict default counts where the fleet file is silent",
    guards: "an agent file that asks for what nobody spoke of",
    edit: {
      file: isolation,
      from: "const silent = isAgent && runsInDocker ? rule.silent : undefined;",
      to: "const silent = undefined;",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a volume" },
  },
  {
    name: "hooks, gates and host servers of a contained agent come from the fleet file",
    guards: "an agent file that runs commands on the host",
    edit: {
      file: isolation,
      from: "...(isAgent && runsInDocker ? hostReachProblems(layer.tree, said) : []),",
      to: "",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a hook" },
  },
  {
    name: "an included fleet ranks below the one that includes it",
    guards: "an included fleet that weakens what surrounds it",
    edit: {
      file: isolation,
      from: "if (other.rank !== layer.rank) return other.rank < layer.rank;",
      to: "if (other.rank !== layer.rank) return false;",
    },
    red: { file: isolationTest, test: "an included fleet cannot be weaker" },
  },
  {
    name: "no container is given a folder of secrets",
    guards: "the user's keys and logins",
    edit: {
      file: boundary,
      from: "if (secret !== undefined) return secret;",
      to: "if (secret !== undefined) return undefined;",
    },
    red: { file: isolationTest, test: "is refused as workspace and as volume" },
  },
  {
    name: "links are followed before a folder is judged",
    guards: "a link to a folder of secrets",
    edit: {
      file: boundary,
      from: "if (existsSync(path)) return realpathSync(path);",
      to: "if (existsSync(path)) return path;",
    },
    red: { file: isolationTest, test: "a link to a secret folder is seen through" },
  },
  {
    name: "no container may write the operator's files",
    guards: "the files that say what a container may do",
    edit: {
      file: boundary,
      from: "if (file === undefined) return [];",
      to: "if (file !== null) return [];",
    },
    red: { file: isolationTest, test: "the fleet's own folder is refused, writable" },
  },
  {
    name: "the host runs no file that a container may write",
    guards: "a hook or gate that names the agent's own script",
    edit: {
      file: "packages/core/src/config/host-commands.ts",
      from: "if (!found) return [];",
      to: "if (found !== null) return [];",
    },
    red: { file: "test/config/hooks.test.ts", test: "is no file that a container may write" },
  },
  {
    name: "agents cannot set what herdctl decides on",
    guards: "credentials and addresses, against an agent's own env",
    edit: {
      file: "packages/core/src/config/decided-variables.ts",
      from: '  "ANTHROPIC_BASE_URL",\n',
      to: "",
    },
    red: {
      file: "test/config/problems.test.ts",
      test: "an agent cannot set ANTHROPIC_BASE_URL, which herdctl decides on",
    },
  },
  {
    name: "values of the environment are masked",
    guards: "secrets in what `config show` prints",
    edit: {
      file: "packages/core/src/config/show.ts",
      from: 'if (written?.kind === "scalar" && written.variables.length > 0) return true;',
      to: "",
    },
    red: { file: "test/config/show.test.ts", test: "secrets are masked wherever they stand" },
  },
  {
    name: "settings of the repository are closed",
    guards: "hooks, environment and key helper of a hostile repository",
    edit: {
      file: "packages/core/src/runner/runtime/arguments.ts",
      from: '...flag("--setting-sources", agent.setting_sources.join(",")),',
      to: "",
    },
    red: { file: repositoryTest, test: "cli its hooks, servers and environment do not run" },
  },
  {
    name: "servers of the repository are closed",
    guards: "servers of a repository whose settings are opened, and those of the user",
    edit: {
      file: "packages/core/src/runner/runtime/arguments.ts",
      from: '"--strict-mcp-config",',
      to: "",
    },
    red: {
      file: repositoryTest,
      test: "cli setting_sources opens it for a named agent, but for servers",
    },
  },
];
