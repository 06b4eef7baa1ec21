import type { ResolvedAgent } from "../../config/resolve.ts";
import { hostsOf } from "./hosts.ts";
import { mayUse, mayUseServer } from "./may-use.ts";
import { webTools } from "./web-tools.ts";

/** By which ways an agent can tell others what it knows, or change something elsewhere. */
export function waysOut(agent: ResolvedAgent): string[] {
  const { chat, work_source, mcp_servers, docker } = agent;
  const shell = mayUse(agent, "Bash") ? ["Bash on this machine"] : [];
  return [
    ...(docker.enabled ? hostsOf(agent) : [...shell, ...webTools(agent)]),
    ...(chat?.discord || chat?.slack ? ["its answers in the chat"] : []),
    ...(work_source ? [`its comments on issues of ${work_source.repo}`] : []),
    ...Object.keys(mcp_servers)
      .filter((server) => mayUseServer(agent, server))
      .map((server) => `the MCP server \`${server}\``),
  ];
}
