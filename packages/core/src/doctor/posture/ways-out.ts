import type { ResolvedAgent } from "../../config/resolve.ts";
import { hostsOf } from "./hosts.ts";
import { mayUse, mayUseServer } from "./may-use.ts";
import { triggeredBy } from "./triggered-by.ts";
import { webTools } from "./web-tools.ts";

/** By which ways an agent can send what it has read, or change something elsewhere. */
export function waysOut(agent: ResolvedAgent, all: readonly ResolvedAgent[]): string[] {
  const senders = triggeredBy(agent, all).filter((other) => ownWaysOut(other).length > 0);
  return [...ownWaysOut(agent), ...senders.map(({ name }) => `what \`${name}\` can send`)];
}

function ownWaysOut(agent: ResolvedAgent): string[] {
  const { chat, work_source, mcp_servers, docker } = agent;
  const shell = mayUse(agent, "Bash") ? ["Bash on this machine"] : [];
  return [
    ...(docker.enabled ? hostsOf(agent) : [...shell, ...webTools(agent)]),
    ...(chat?.discord || chat?.slack ? ["its answers in the chat"] : []),
    ...(work_source ? [`its comments on issues of ${work_source.repo}`] : []),
    ...Object.keys(mcp_servers)
      .filter((server) => mayUseServer(agent, server))
      .map((server) => `the MCP server \`${server}\``),
    ...postingHooks(agent),
  ];
}

/** Hooks run on the host with the result of the run, so a container does not hold them back. */
function postingHooks({ hooks }: ResolvedAgent): string[] {
  const found = (["after_run", "on_error"] as const).flatMap((when) =>
    hooks[when].map(({ type }) => `the ${type} hook in \`${when}\``),
  );
  return [...new Set(found)];
}
