import type { ResolvedAgent } from "../../config/resolve.ts";
import { passwordOf, secretValues } from "../../config/secret-values.ts";
import { at, type Tree } from "../../document/tree.ts";
import { isSecretName } from "../secret-name.ts";
import { mayReadAll, mayReadResources, mayUseServer } from "./may-use.ts";
import { triggeredBy } from "./triggered-by.ts";

/** The merged configuration of each agent, which records the variables in each value. */
export type AgentTrees = ReadonlyMap<string, Tree>;

/** What an agent can read, or act with, that is not public. */
export function secretsInReach(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
  trees: AgentTrees,
): string[] {
  const givenTo = triggeredBy(agent, all).filter((other) => ownSecrets(other, trees).length > 0);
  return [...ownSecrets(agent, trees), ...givenTo.map(({ name }) => `what \`${name}\` can read`)];
}

function ownSecrets(agent: ResolvedAgent, trees: AgentTrees): string[] {
  const tree = trees.get(agent.name);
  return [
    ...inEnvironment(agent, tree),
    ...inPrompts(agent, tree),
    ...(agent.docker.enabled ? inContainer(agent) : onHost(agent)),
    ...Object.keys(agent.mcp_servers).flatMap((server) => ofServer(agent, server, tree)),
  ];
}

function inEnvironment({ env, docker }: ResolvedAgent, tree: Tree | undefined): string[] {
  const ofContainer = docker.enabled ? docker.env : {};
  return Object.entries({ ...env, ...ofContainer }).flatMap(([name, value]) => {
    const path = name in ofContainer ? ["docker", "env", name] : ["env", name];
    return isSecretName(name) || isSecret(value, at(tree, path)) ? [name] : [];
  });
}

function inPrompts(agent: ResolvedAgent, tree: Tree | undefined): string[] {
  const fields = (["system_prompt", "default_prompt"] as const).filter((field) =>
    isSecret(agent[field], at(tree, [field])),
  );
  const schedules = Object.entries(agent.schedules).filter(([name, { prompt }]) =>
    isSecret(prompt, at(tree, ["schedules", name, "prompt"])),
  );
  return [...fields, ...schedules.map(([name]) => `the prompt of \`${name}\``)];
}

function inContainer({ docker, plugins }: ResolvedAgent): string[] {
  const { auth, volumes } = docker;
  return [
    ...(auth === "env" || auth === "mount" ? [`its credential, by \`auth: ${auth}\``] : []),
    ...volumes.map(({ source }) => `the folder ${source}`),
    ...plugins.map(pluginFolder),
  ];
}

function onHost(agent: ResolvedAgent): string[] {
  if (mayReadAll(agent)) return ["every file of this user, such as SSH keys and logins"];
  return agent.plugins.map(pluginFolder);
}

function pluginFolder(path: string): string {
  return `the plugin folder ${path}`;
}

function ofServer(agent: ResolvedAgent, server: string, tree: Tree | undefined): string[] {
  const config = agent.mcp_servers[server];
  if (config === undefined || !mayUseServer(agent, server)) return [];
  const own = at(tree, ["mcp_servers", server]);
  const isProcess = "command" in config;
  const [group, values] = isProcess ? ["env", config.env] : ["headers", config.headers];
  const named = Object.entries(values).filter(
    ([name, value]) =>
      isSecretName(name) ||
      /^authorization$/i.test(name) ||
      isSecret(value, at(own, [group, name])),
  );
  const held = named.map(([name]) => `${name} of \`${server}\``);
  if (!isProcess) {
    const inAddress = isSecret(config.url, at(own, ["url"]));
    return [...held, ...(inAddress ? [`the address of \`${server}\``] : [])];
  }
  const inArguments = config.args.some((text, index) => isSecret(text, at(own, ["args", index])));
  const isOnHost = !agent.docker.enabled || config.run === "host";
  return [
    ...held,
    ...(inArguments ? [`an argument of \`${server}\``] : []),
    ...(isOnHost && mayReadResources(agent, server) ? [`the resources of \`${server}\``] : []),
  ];
}

/** Goes by the origin of a value: `X: ${NPM_TOKEN}` is a secret, whatever its key is called. */
function isSecret(value: string | undefined, written: Tree | undefined): boolean {
  if (value === undefined) return false;
  if (passwordOf(value) !== undefined) return true;
  const variables = written?.kind === "scalar" ? written.variables : [];
  return variables.some((name) => isSecretName(name) || secretValues({ [name]: value }).length > 0);
}
