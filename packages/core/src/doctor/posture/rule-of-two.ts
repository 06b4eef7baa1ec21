import type { ResolvedAgent } from "@herdctl/config";
import { type Finding, ok, warning } from "../check.ts";
import { findExfiltrationPaths, findUntrustedInputs } from "./exposure.ts";
import { type AgentTrees, findReachableSecrets } from "./reachable-secrets.ts";

/**
 * An agent should have at most two of: untrusted input, access to secrets, external communication.
 * With all three, an attacker can use prompt injection to steal the secrets.
 */
export function evaluateRuleOfTwo(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
  trees: AgentTrees,
): Finding {
  const capabilities = [
    { label: "untrusted input", sources: findUntrustedInputs(agent, all) },
    { label: "access to secrets", sources: findReachableSecrets(agent, all, trees) },
    { label: "external communication", sources: findExfiltrationPaths(agent, all) },
  ];
  const presentCapabilities = capabilities.filter(({ sources }) => sources.length > 0);
  const facts = { agent: agent.name, place: agent.file };
  if (presentCapabilities.length === capabilities.length) {
    const message = `It has all three: ${presentCapabilities.map(describeCapability).join("; ")}.`;
    return { ...warning(name, message, suggestFix(agent)), ...facts };
  }
  if (presentCapabilities.length === 0) {
    return {
      ...ok(name, "No untrusted input, no access to secrets, no external communication."),
      ...facts,
    };
  }
  const missing = capabilities
    .filter(({ sources }) => sources.length === 0)
    .map(({ label }) => `no ${label}`);
  return {
    ...ok(
      name,
      `It has ${presentCapabilities.map(describeCapability).join("; ")}; ${missing.join(", ")}.`,
    ),
    ...facts,
  };
}

const name = "rule of two";
const maxListedSources = 3;

function describeCapability({
  label,
  sources,
}: {
  label: string;
  sources: readonly string[];
}): string {
  const more =
    sources.length > maxListedSources ? ` and ${sources.length - maxListedSources} more` : "";
  return `${label} (${sources.slice(0, maxListedSources).join(", ")}${more})`;
}

/** How to remove the capability that is easiest to remove. */
function suggestFix(agent: ResolvedAgent): string {
  const { docker, hooks, may_trigger, mcp_servers, permission_mode } = agent;
  const servers =
    Object.keys(mcp_servers).length > 0
      ? " Only allow read-only tools of MCP servers, by name in `allowed_tools`."
      : "";
  const posts = Object.values(hooks).some((list) => list.length > 0);
  const others = [
    ...(posts ? [" Remove `hooks` that post its output."] : []),
    ...(may_trigger.length > 0
      ? [" In `may_trigger`, only list agents without secrets and external communication."]
      : []),
  ].join("");
  if (!docker.enabled) {
    const ask =
      permission_mode === "bypassPermissions"
        ? "or require approval for each tool with `permission_mode: default`"
        : "or remove Bash and the web tools from `allowed_tools`, so that they require approval";
    return `Run it in a container with \`docker: { enabled: true }\`, without access to your files and the network; ${ask}.${servers}${others}`;
  }
  const network = docker.network === "none" ? "shorten `egress`" : "use `network: none`";
  return `Remove the secrets from its \`env\`, \`docker.auth\`, \`docker.volumes\` and \`plugins\`, or ${network}; or send the untrusted input to another agent that has neither.${servers}${others}`;
}
