import type { Defence } from "../defence.ts";

const trust = "packages/core/src/config/trust";
const boundary = "packages/core/src/config/boundary.ts";
const isolationTest = "test/config/isolation.test.ts";
const trustTest = "test/config/trust.test.ts";
const repositoryTest = "test/runner/hostile-repository.test.ts";

export const configurationDefences: readonly Defence[] = [
  {
    name: "agent files are held against the fleet file",
    guards: "an agent file that loosens its own container",
    edit: {
      file: `${trust}/check-trust.ts`,
      from: "if (rule.isNoWeaker(limit.success ? limit.data : undefined, claimed.data)) return [];",
      to: "return [];",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a network" },
  },
  {
    name: "the strict default counts where the fleet file is silent",
    guards: "an agent file that asks for what nobody spoke of",
    edit: {
      file: `${trust}/check-trust.ts`,
      from: 'if (!said && rule.whenUnset === "free") return [];',
      to: "if (!said) return [];",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a volume" },
  },
  {
    name: "hooks, gates and host servers of a contained agent come from the fleet file",
    guards: "an agent file that runs commands on the host",
    edit: {
      file: `${trust}/check-trust.ts`,
      from: "return blocksOf(claim).map((block) => onlyByFleet(block, limited, rule.reason));",
      to: "return [];",
    },
    red: { file: isolationTest, test: "an agent file cannot claim a hook" },
  },
  {
    name: "an included fleet ranks below the one that includes it",
    guards: "an included fleet that weakens what surrounds it",
    edit: {
      file: `${trust}/layers.ts`,
      from: "if (other.rank !== layer.rank) return other.rank < layer.rank;",
      to: "if (other.rank !== layer.rank) return false;",
    },
    red: { file: isolationTest, test: "an included fleet cannot be weaker" },
  },
  {
    name: "a file without a word on its trust is limited",
    guards: "an agent file that somebody else may have written",
    edit: {
      file: "packages/core/src/config/sources.ts",
      from: "(earlier?.isFull ?? false)",
      to: "(earlier?.isFull ?? true)",
    },
    red: { file: trustTest, test: "a limited file cannot set plugins" },
  },
  {
    name: "a limited file is given no variable that its entry does not list",
    guards: "secrets of the fleet's environment, against an agent file",
    edit: {
      file: `${trust}/grant.ts`,
      from: "return grants.every(({ variables }) => variables.includes(name));",
      to: "return grants.length >= 0 || name === String(grants);",
    },
    red: { file: trustTest, test: "a limited file cannot set a variable in env" },
  },
  {
    name: "a limited file chooses paths below granted folders only",
    guards: "folders of the host, against an agent file",
    edit: {
      file: `${trust}/grant.ts`,
      from: "some((one) => holds(followLinks(one), real)),",
      to: "some((one) => one !== real),",
    },
    red: { file: trustTest, test: "a limited file cannot set a folder elsewhere" },
  },
  {
    name: "links are followed before a chosen path is judged",
    guards: "a link out of the fleet's folder",
    edit: {
      file: `${trust}/grant.ts`,
      from: "const real = followLinks(path);",
      to: "const real = path;",
    },
    red: { file: trustTest, test: "a link out of the fleet's folder is followed" },
  },
  {
    name: "a limited file reads no schema out of the fleet's own files",
    guards: "`.env` and the fleet file, shown to the model as a schema",
    edit: {
      file: `${trust}/check-trust.ts`,
      from: "if (guarded.operatorFolders.has(real) || secretIn(real, guarded) !== undefined)",
      to: "if (guarded.operatorFolders.has(`${real}?`))",
    },
    red: { file: trustTest, test: "a limited file cannot set the fleet's .env as a schema" },
  },
  {
    name: "a limited file cannot disable Docker",
    guards: "an agent file that leaves its container and with it all limits",
    edit: {
      file: `${trust}/layers.ts`,
      from: "const runsInDocker = [written, limited, trusted].some((layers) => {",
      to: "const runsInDocker = [written, limited].slice(trusted.length * 0).some((layers) => {",
    },
    red: { file: trustTest, test: "does not become one because its own file disables Docker" },
  },
  {
    name: "a limited file removes no block of the fleet file",
    guards: "`docker: null`, which would take the fleet file's own block away",
    edit: {
      file: `${trust}/claims.ts`,
      from: 'if (claimed.kind !== "map") return [path];',
      to: 'if (claimed.kind !== "map") return [];',
    },
    red: { file: trustTest, test: "cannot remove what the fleet file says in docker" },
  },
  {
    name: "a limited file names no agent with more reach",
    guards: "an agent on the host, against prompts of a contained one",
    edit: {
      file: `${trust}/delegation.ts`,
      from: "if (reason === undefined) return [];",
      to: "if (reason !== null) return [];",
    },
    red: { file: trustTest, test: "a limited file cannot set an agent on the host" },
  },
  {
    name: "tool rules of a limited file name no MCP server on the host",
    guards: "MCP servers of the fleet file, against `allowed_tools` of an agent file",
    edit: {
      file: `${trust}/check-trust.ts`,
      from: "if (server === undefined || allowed.includes(rule)) return [];",
      to: "if (server !== null || allowed.includes(rule)) return [];",
    },
    red: { file: trustTest, test: "a limited file cannot set tools of a host server" },
  },
  {
    name: "MCP servers on the host follow the tool rules of the fleet file",
    guards: "MCP servers of the fleet file, against `bypassPermissions` of an agent file",
    edit: {
      file: "packages/core/src/runner/runtime/mcp/tool-rules.ts",
      from: "this.agent.host_tools ?? this.agent;",
      to: "this.agent;",
    },
    red: { file: "test/runtime/mcp-place.test.ts", test: "are those of the fleet file" },
  },
  {
    name: "an included fleet grants its files no more than it was granted",
    guards: "an included fleet that trusts its own files",
    edit: {
      file: "packages/core/src/config/sources.ts",
      from: "const own = entry.isFull ? grants : [...grants, grantFor(file, agentFile, entry)];",
      to: "const own = entry.isFull ? [] : [grantFor(file, agentFile, entry)];",
    },
    red: { file: trustTest, test: "cannot grant its files more than it was granted" },
  },
  {
    name: "an agent in Docker counts as one that read text from outside",
    guards: "a log that a container forged, against who is given work by it",
    edit: {
      file: "packages/core/src/fleet/errands/outside.ts",
      from: 'if (job.place === "docker") return true;',
      to: "",
    },
    red: { file: "test/herd-tools/outside.test.ts", test: "an agent in Docker always may have" },
  },
  {
    name: "a tool that is not known to bring nothing in taints",
    guards: "text of a repository or a page that is handed on as an agent's own",
    edit: {
      file: "packages/core/src/fleet/errands/outside.ts",
      from: "!bringsNothingIn.has(name)",
      to: 'name.startsWith("Web")',
    },
    red: { file: "test/herd-tools/outside.test.ts", test: "an agent that used Bash may have" },
  },
  {
    name: "the engine's socket is found where DOCKER_HOST names it",
    guards: "the container engine, and by it the whole machine",
    edit: {
      file: boundary,
      from: '...(engine?.startsWith("unix://") ? [engine.slice("unix://".length)] : []),',
      to: "...(engine === String(home) ? [engine] : []),",
    },
    red: { file: isolationTest, test: "the engine's socket that DOCKER_HOST names is refused" },
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
      from: 'if (written?.kind === "scalar" && written.variables.length > 0) return maskOf(written.variables);',
      to: "",
    },
    red: { file: "test/config/show.test.ts", test: "secrets are masked wherever they stand" },
  },
  {
    name: "the rule of two goes by the origin of values",
    guards: "a secret that the configuration passes on under another name",
    edit: {
      file: "packages/core/src/doctor/posture/secrets.ts",
      from: 'const variables = written?.kind === "scalar" ? written.variables : [];',
      to: "const variables: string[] = [];",
    },
    red: {
      file: "test/doctor/rule-of-two.test.ts",
      test: "an agent with a key under another name",
    },
  },
  {
    name: "hooks that post are ways out in the rule of two",
    guards: "results of a contained agent, which a hook on the host sends on",
    edit: {
      file: "packages/core/src/doctor/posture/ways-out.ts",
      from: "...postingHooks(agent),",
      to: "",
    },
    red: { file: "test/doctor/rule-of-two.test.ts", test: "an agent whose hooks post" },
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
