import type { ResolvedAgent } from "../../config/resolve.ts";
import { type Finding, ok, warning } from "../check.ts";
import { type AgentTrees, secretsInReach } from "./secrets.ts";
import { untrustedInput } from "./untrusted-input.ts";
import { waysOut } from "./ways-out.ts";

/**
 * An agent may have two of the three: words of strangers, secrets within reach, ways out. With all
 * three, a stranger who talks it into something carries the secrets away.
 */
export function judgePosture(
  agent: ResolvedAgent,
  all: readonly ResolvedAgent[],
  trees: AgentTrees,
): Finding {
  const legs = [
    { what: "words of strangers", by: untrustedInput(agent, all) },
    { what: "secrets within reach", by: secretsInReach(agent, all, trees) },
    { what: "ways out", by: waysOut(agent, all) },
  ];
  const given = legs.filter(({ by }) => by.length > 0);
  const facts = { agent: agent.name, place: agent.file };
  if (given.length === legs.length) {
    const message = `It has all three: ${given.map(legText).join("; ")}.`;
    return { ...warning(name, message, remedyFor(agent)), ...facts };
  }
  if (given.length === 0) {
    return {
      ...ok(name, "No words of strangers, no secrets within reach, no ways out."),
      ...facts,
    };
  }
  const missing = legs.filter(({ by }) => by.length === 0).map(({ what }) => `no ${what}`);
  return {
    ...ok(name, `It has ${given.map(legText).join("; ")}; ${missing.join(", ")}.`),
    ...facts,
  };
}

const name = "rule of two";
const most = 3;

function legText({ what, by }: { what: string; by: readonly string[] }): string {
  const more = by.length > most ? ` and ${by.length - most} more` : "";
  return `${what} (${by.slice(0, most).join(", ")}${more})`;
}

/** The one of the three that is easiest to take away. */
function remedyFor(agent: ResolvedAgent): string {
  const { docker, hooks, may_trigger, mcp_servers, permission_mode } = agent;
  const servers =
    Object.keys(mcp_servers).length > 0
      ? " Of MCP servers allow only tools that read, by name in `allowed_tools`."
      : "";
  const posts = hooks.after_run.length + hooks.on_error.length > 0;
  const others = [
    ...(posts ? [" Remove `hooks` that post what it wrote."] : []),
    ...(may_trigger.length > 0
      ? [" In `may_trigger`, name only agents without secrets and ways out."]
      : []),
  ].join("");
  if (!docker.enabled) {
    const ask =
      permission_mode === "bypassPermissions"
        ? "or have a person asked before each tool with `permission_mode: default`"
        : "or take Bash and the web out of `allowed_tools`, so that a person is asked";
    return `Run it in a container with \`docker: { enabled: true }\`: there it reaches neither your files nor the network; ${ask}.${servers}${others}`;
  }
  const network = docker.network === "none" ? "shorten `egress`" : "use `network: none`";
  return `Take the secrets out of its \`env\`, \`docker.auth\`, \`docker.volumes\` and \`plugins\`, or ${network}; or give what strangers write to another agent that has neither.${servers}${others}`;
}
