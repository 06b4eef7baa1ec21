import { explainToolRule, type ResolvedAgent } from "@herdctl/config";
import { z } from "zod";

/** MCP servers and plugins that Claude Code could not load, as its first message lists them. */
export interface StartupFailures {
  /** One sentence for each, for the job's record. */
  warnings: string[];
  /** The required servers that are not available; the run stops. */
  missingServers: string[];
}

type ServerRules = Pick<ResolvedAgent, "mcp_servers" | "allowed_tools"> &
  Partial<Pick<ResolvedAgent, "permission_mode">>;

/** `pending` servers may still connect, and `disabled` ones were disabled on purpose. */
const failedStates: Record<string, string> = {
  failed: "did not start",
  "needs-auth": "needs a login, which an unattended agent cannot do",
};

const initSchema = z.looseObject({
  tools: z.array(z.string()).catch([]),
  permissionMode: z.string().optional().catch(undefined),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).catch([]),
  plugin_errors: z
    .array(z.looseObject({ plugin: z.string(), message: z.string(), path: z.string().optional() }))
    .catch([]),
});

export function findStartupFailures(agent: ServerRules, init: object): StartupFailures {
  const { mcp_servers, plugin_errors, tools, permissionMode } = initSchema.parse(init);
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
      ...unknownToolWarnings(agent, tools),
      ...modeWarnings(agent, permissionMode),
    ],
    missingServers: failed.map(({ name }) => name).filter((name) => isRequiredServer(agent, name)),
  };
}

/** Rules for tools that this run does not have; such a rule has no effect. */
function unknownToolWarnings({ allowed_tools }: ServerRules, tools: readonly string[]): string[] {
  if (tools.length === 0) return [];
  return allowed_tools.flatMap((rule) => {
    const tool = rule.replace(/\(.*$/s, "");
    if (tools.includes(tool) || tool.includes("*") || tool.startsWith("mcp__herd__")) return [];
    const server = /^mcp__(.+?)__/.exec(tool)?.[0];
    // A server that is not connected yet, or has no tools at all, is reported otherwise.
    const siblings = server === undefined ? [] : tools.filter((name) => name.startsWith(server));
    if (siblings.length > 0)
      return [
        `\`allowed_tools\` names \`${tool}\`, which its MCP server does not have; it has ${siblings.slice(0, 10).join(", ")}`,
      ];
    if (tool.startsWith("mcp__") || explainToolRule(tool) === undefined) return [];
    return [
      `\`allowed_tools\` names \`${tool}\`, which Claude Code does not have; correct the name`,
    ];
  });
}

/** Claude Code falls back to another mode without a word, for example for a model without `auto`. */
function modeWarnings({ permission_mode: configured }: ServerRules, actual: string | undefined) {
  if (configured === undefined || actual === undefined || actual === configured) return [];
  return [
    `Claude Code runs in the permission mode \`${actual}\` instead of \`${configured}\`; choose a mode that the model and the machine support`,
  ];
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
