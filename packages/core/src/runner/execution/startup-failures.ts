import type { ResolvedAgent } from "@herdctl/config";
import { z } from "zod";

/** MCP servers and plugins that Claude Code could not load, as its first message lists them. */
export interface StartupFailures {
  /** One sentence for each, for the job's record. */
  warnings: string[];
  /** The required servers that are not available; the run stops. */
  missingServers: string[];
}

type ServerRules = Pick<ResolvedAgent, "mcp_servers" | "allowed_tools">;

/** `pending` servers may still connect, and `disabled` ones were disabled on purpose. */
const failedStates: Record<string, string> = {
  failed: "did not start",
  "needs-auth": "needs a login, which an unattended agent cannot do",
};

const initSchema = z.looseObject({
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).catch([]),
  plugin_errors: z
    .array(z.looseObject({ plugin: z.string(), message: z.string(), path: z.string().optional() }))
    .catch([]),
});

export function findStartupFailures(agent: ServerRules, init: object): StartupFailures {
  const { mcp_servers, plugin_errors } = initSchema.parse(init);
  const failed = mcp_servers.filter(({ status }) => failedStates[status] !== undefined);
  return {
    warnings: [
      ...failed.map(
        ({ name, status }) =>
          `the MCP server \`${name}\` ${failedStates[status]}: its tools are missing`,
      ),
      ...plugin_errors.map(
        ({ plugin, path, message }) => `the plugin ${path ?? plugin} was not loaded: ${message}`,
      ),
    ],
    missingServers: failed.map(({ name }) => name).filter((name) => isRequiredServer(agent, name)),
  };
}

/** By default a server is required if the agent's own rules name it or one of its tools. */
export function isRequiredServer(
  { mcp_servers, allowed_tools }: ServerRules,
  name: string,
): boolean {
  const server = mcp_servers[name];
  if (server === undefined) return false;
  const rule = `mcp__${name}`;
  return (
    server.required ??
    allowed_tools.some((allowed) => allowed === rule || allowed.startsWith(`${rule}__`))
  );
}
