import { matchesAnyPattern, type ResolvedAgent } from "@herdctl/config";
import { hookEvents } from "@herdctl/protocol";
import { canUseMcpServer, canUseTool, type ToolRules } from "./allowed-tools.ts";

/** The ways in which an agent can send data out or change something elsewhere. */
export function findExfiltrationPaths(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
): string[] {
  const sendingAgents = agentsTriggerableBy(agent, all).filter(
    (other) => directExfiltrationPaths(other).length > 0,
  );
  return [
    ...directExfiltrationPaths(agent),
    ...sendingAgents.map(({ name }) => `through \`${name}\``),
  ];
}

function directExfiltrationPaths(agent: ResolvedAgent): string[] {
  const { chat, work_source, mcp_servers, docker } = agent;
  const shell = canUseTool(agent, "Bash") ? ["Bash on this machine"] : [];
  return [
    ...(docker.enabled ? reachableHosts(agent) : [...shell, ...allowedWebTools(agent)]),
    ...(chat?.discord || chat?.slack ? ["its answers in the chat"] : []),
    ...(work_source ? [`its comments on issues of ${work_source.repo}`] : []),
    ...Object.keys(mcp_servers)
      .filter((server) => canUseMcpServer(agent, server))
      .map((server) => `the MCP server \`${server}\``),
    // defence: posting-hooks-count
    ...postingHooks(agent),
  ];
}

/** Hooks run on the host with the result of the run, so a container does not restrict them. */
function postingHooks({ hooks }: ResolvedAgent): string[] {
  const found = hookEvents.flatMap((when) =>
    hooks[when].map(({ type }) => `the ${type} hook in \`${when}\``),
  );
  return [...new Set(found)];
}

/** The ways in which untrusted input reaches an agent. */
export function findUntrustedInputs(agent: ResolvedAgent, all: readonly ResolvedAgent[]): string[] {
  const forwardingAgents = all.filter(
    (other) =>
      other.name !== agent.name &&
      directUntrustedInputs(other).length > 0 &&
      agentsTriggerableBy(other, all).includes(agent),
  );
  return [
    ...directUntrustedInputs(agent),
    ...forwardingAgents.map(({ name }) => `through \`${name}\``),
  ];
}

function directUntrustedInputs(agent: ResolvedAgent): string[] {
  const { schedules, chat, work_source, mcp_servers, docker } = agent;
  const hooks = Object.entries(schedules).filter(([, { type }]) => type === "webhook");
  return [
    ...hooks.map(([name]) => `the webhook \`${name}\``),
    ...(chat?.discord ? ["Discord"] : []),
    ...(chat?.slack ? ["Slack"] : []),
    ...(work_source ? [`issues of ${work_source.repo}`] : []),
    ...(docker.enabled ? reachableHosts(agent) : allowedWebTools(agent)),
    ...Object.keys(mcp_servers)
      .filter((server) => canUseMcpServer(agent, server))
      .map((server) => `the MCP server \`${server}\``),
  ];
}

/** The agents that an agent can trigger with `may_trigger`, directly or through other agents. */
export function agentsTriggerableBy(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
): ResolvedAgent[] {
  const found = new Set([agent]);
  // Iteration over a Set includes entries that are added during the iteration.
  for (const { name, may_trigger } of found) {
    const named = all.filter(
      (other) => other.name !== name && matchesAnyPattern(may_trigger, other.name),
    );
    for (const other of named) found.add(other);
  }
  return all.filter((other) => other !== agent && found.has(other));
}

/** On the host, only its permissions restrict an agent's access to the web. */
function allowedWebTools(rules: ToolRules): string[] {
  return ["WebFetch", "WebSearch"].filter((tool) => canUseTool(rules, tool));
}

/** The hosts that an agent in a container can reach, other than the model's API. */
function reachableHosts({ docker }: Pick<ResolvedAgent, "docker">): string[] {
  const { network, egress, api_features } = docker;
  if (network !== "none") return [`\`network: ${network}\``];
  const hosts = egress.map((rule) => {
    if (typeof rule === "string") return rule;
    return rule.protocol === "tcp" ? `${rule.host} (any protocol)` : rule.host;
  });
  return [
    ...(hosts.length > 0 ? [`\`egress\` to ${hosts.join(", ")}`] : []),
    ...(api_features.length > 0 ? [`\`api_features\` with ${api_features.join(", ")}`] : []),
  ];
}
