import { isDeepStrictEqual } from "node:util";
import type { ResolvedAgent } from "../../../config/resolve.ts";
import type { ExecuteOptions } from "../interface.ts";
import type { Access } from "./method-rules.ts";

type Rules = Pick<
  ResolvedAgent,
  "permission_mode" | "allowed_tools" | "denied_tools" | "host_tools"
>;
type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

/**
 * Which calls reach a bridged server. Claude keeps the agent's rules itself, but whoever is in its
 * container can speak in its name, and the server is outside.
 */
export class ToolRules {
  private readonly allowedOnce: { tool: string; input: unknown }[] = [];

  constructor(private readonly agent: Rules) {}

  /** Remembers what a person allowed: exactly that, for one use. */
  remembering(ask: AskPermission | undefined): AskPermission | undefined {
    return (
      ask &&
      (async (request, signal) => {
        const answer = await ask(request, signal);
        if (answer.behavior === "allow" && request.tool.startsWith("mcp__")) {
          this.allowedOnce.push({ tool: request.tool, input: answer.updatedInput });
        }
        return answer;
      })
    );
  }

  allow(server: string, tool: string, input: unknown = {}): boolean {
    // These servers are on the host: a limited agent file decides about its container only.
    const { permission_mode, allowed_tools } = this.agent.host_tools ?? this.agent;
    if (isNamed(this.agent.denied_tools, server, tool)) return false;
    if (permission_mode === "bypassPermissions" || isNamed(allowed_tools, server, tool))
      return true;
    const index = this.allowedOnce.findIndex(
      (one) => one.tool === toolName(server, tool) && isDeepStrictEqual(one.input, input),
    );
    return index !== -1 && this.allowedOnce.splice(index, 1).length > 0;
  }

  /** What is no tool of a server: open by the tool of Claude Code for it, or with the whole server. */
  permits(server: string, access: Exclude<Access, "tool">): boolean {
    if (access === "always") return true;
    const { permission_mode, allowed_tools, denied_tools } = this.agent;
    const named = (rules: readonly string[]) => {
      if (isWholeServerNamed(rules, server)) return true;
      return (
        access !== "whole_server" && rules.some((rule) => matches(rule, resourceTools[access]))
      );
    };
    if (named(denied_tools)) return false;
    return permission_mode === "bypassPermissions" || named(allowed_tools);
  }
}

const resourceTools = {
  list_resources: "ListMcpResourcesTool",
  read_resources: "ReadMcpResourceTool",
} as const;

/** Whether rules such as `mcp__github__*` speak of a tool. */
export function isNamed(rules: readonly string[], server: string, tool: string): boolean {
  const name = toolName(server, tool);
  return rules.some((rule) => rule === `mcp__${plain(server)}` || matches(rule, name));
}

/** A rule that fits a tool which no server can have fits all of its tools. */
function isWholeServerNamed(rules: readonly string[], server: string): boolean {
  const name = `mcp__${plain(server)}`;
  return rules.some((rule) => rule === name || matches(rule, `${name}__\0`));
}

function toolName(server: string, tool: string): string {
  return `mcp__${plain(server)}__${plain(tool)}`;
}

/** As Claude Code writes names. */
function plain(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

function matches(rule: string, name: string): boolean {
  const parts = rule.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
