import type { ResolvedAgent } from "../../config/resolve.ts";
import { hostsOf } from "./hosts.ts";
import { mayUseServer } from "./may-use.ts";
import { triggeredBy } from "./triggered-by.ts";
import { webTools } from "./web-tools.ts";

/** By which ways words of strangers reach an agent. */
export function untrustedInput(agent: ResolvedAgent, all: readonly ResolvedAgent[]): string[] {
  const givers = all.filter(
    (other) =>
      other.name !== agent.name &&
      ownInput(other).length > 0 &&
      triggeredBy(other, all).includes(agent),
  );
  return [...ownInput(agent), ...givers.map(({ name }) => `what \`${name}\` hands on`)];
}

function ownInput(agent: ResolvedAgent): string[] {
  const { schedules, chat, work_source, mcp_servers, docker } = agent;
  const hooks = Object.entries(schedules).filter(([, { type }]) => type === "webhook");
  return [
    ...hooks.map(([name]) => `the webhook \`${name}\``),
    ...(chat?.discord ? ["Discord"] : []),
    ...(chat?.slack ? ["Slack"] : []),
    ...(work_source ? [`issues of ${work_source.repo}`] : []),
    ...(docker.enabled ? hostsOf(agent) : webTools(agent)),
    ...Object.keys(mcp_servers)
      .filter((server) => mayUseServer(agent, server))
      .map((server) => `the MCP server \`${server}\``),
  ];
}
