import {
  isNamedVolume,
  listSecretValues,
  mayUseLoginByDefault,
  passwordOf,
  type ResolvedAgent,
  type Tree,
  treeAt,
} from "@herdctl/config";
import { canReadAllFiles, canReadMcpResources, canUseMcpServer } from "./allowed-tools.ts";
import { agentsTriggerableBy } from "./exposure.ts";

/** The merged configuration of each agent, which records the variables in each value. */
export type AgentTrees = ReadonlyMap<string, Tree>;

/** The secrets that an agent can read or use. */
export function findReachableSecrets(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
  trees: AgentTrees,
): string[] {
  const agentsWithSecrets = agentsTriggerableBy(agent, all).filter(
    (other) => directSecrets(other, trees).length > 0,
  );
  return [
    ...directSecrets(agent, trees),
    ...agentsWithSecrets.map(({ name }) => `through \`${name}\``),
  ];
}

function directSecrets(agent: ResolvedAgent, trees: AgentTrees): string[] {
  const tree = trees.get(agent.name);
  return [
    ...secretsInEnvironment(agent, tree),
    ...secretsInPrompts(agent, tree),
    ...(agent.docker.enabled ? secretsInContainer(agent) : secretsOnHost(agent)),
    ...Object.keys(agent.mcp_servers).flatMap((server) => secretsOfMcpServer(agent, server, tree)),
  ];
}

function secretsInEnvironment({ env, docker }: ResolvedAgent, tree: Tree | undefined): string[] {
  const containerEnv = docker.enabled ? docker.env : {};
  return Object.entries({ ...env, ...containerEnv }).flatMap(([name, value]) => {
    const path = name in containerEnv ? ["docker", "env", name] : ["env", name];
    return isSecretName(name) || isSecret(value, treeAt(tree, path)) ? [name] : [];
  });
}

function secretsInPrompts(agent: ResolvedAgent, tree: Tree | undefined): string[] {
  const { append, replace = [] } = agent.system_prompt ?? {};
  const texts: [field: string, text: string | undefined, written: string[]][] = [
    ["system_prompt", append, ["system_prompt"]],
    ["system_prompt", append, ["system_prompt", "append"]],
    ["system_prompt", replace.join("\n"), ["system_prompt", "replace"]],
    ["default_prompt", agent.default_prompt, ["default_prompt"]],
  ];
  const fields = new Set(
    texts.flatMap(([field, text, written]) =>
      isSecret(text, treeAt(tree, written)) ? [field] : [],
    ),
  );
  const schedules = Object.entries(agent.schedules).filter(([name, { prompt }]) =>
    isSecret(prompt, treeAt(tree, ["schedules", name, "prompt"])),
  );
  return [...fields, ...schedules.map(([name]) => `the prompt of \`${name}\``)];
}

function secretsInContainer(agent: ResolvedAgent): string[] {
  const { docker, plugins } = agent;
  const { auth, volumes } = docker;
  return [
    ...(auth === "env" || auth === "mount" ? [`its credential, with \`auth: ${auth}\``] : []),
    ...(mayUseLoginByDefault(agent) ? ["the login of Claude Code, if there is no API key"] : []),
    ...volumes.map(
      (volume) => `the ${isNamedVolume(volume) ? "volume" : "folder"} ${volume.source}`,
    ),
    ...plugins.map(describePluginFolder),
  ];
}

function secretsOnHost(agent: ResolvedAgent): string[] {
  if (canReadAllFiles(agent)) return ["every file of this user, such as SSH keys and logins"];
  return agent.plugins.map(describePluginFolder);
}

function describePluginFolder(path: string): string {
  return `the plugin folder ${path}`;
}

function secretsOfMcpServer(
  agent: ResolvedAgent,
  server: string,
  tree: Tree | undefined,
): string[] {
  const config = agent.mcp_servers[server];
  if (config === undefined || !canUseMcpServer(agent, server)) return [];
  const serverTree = treeAt(tree, ["mcp_servers", server]);
  const isStdioServer = "command" in config;
  const [group, values] = isStdioServer ? ["env", config.env] : ["headers", config.headers];
  const secretEntries = Object.entries(values).filter(
    ([name, value]) =>
      isSecretName(name) ||
      /^authorization$/i.test(name) ||
      isSecret(value, treeAt(serverTree, [group, name])),
  );
  const secretLabels = secretEntries.map(([name]) => `${name} of \`${server}\``);
  if (!isStdioServer) {
    const inAddress = isSecret(config.url, treeAt(serverTree, ["url"]));
    return [...secretLabels, ...(inAddress ? [`the address of \`${server}\``] : [])];
  }
  const inArguments = config.args.some((text, index) =>
    isSecret(text, treeAt(serverTree, ["args", index])),
  );
  const isOnHost = !agent.docker.enabled || config.run === "host";
  return [
    ...secretLabels,
    ...(inArguments ? [`an argument of \`${server}\``] : []),
    ...(isOnHost && canReadMcpResources(agent, server) ? [`the resources of \`${server}\``] : []),
  ];
}

/** Checks the origin of a value: `X: ${NPM_TOKEN}` is a secret, regardless of its key. */
function isSecret(value: string | undefined, valueTree: Tree | undefined): boolean {
  if (value === undefined) return false;
  if (passwordOf(value) !== undefined) return true;
  // defence: origin-of-values
  const variables = valueTree?.kind === "scalar" ? valueTree.variables : [];
  return variables.some(
    (name) => isSecretName(name) || listSecretValues({ [name]: value }).length > 0,
  );
}

const secretNamePattern =
  /(?:^|[_-])(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i;

/** Whether the name of a variable or header suggests a secret. */
export function isSecretName(name: string): boolean {
  return secretNamePattern.test(name);
}
