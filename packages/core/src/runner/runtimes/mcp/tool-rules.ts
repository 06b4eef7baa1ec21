import { isDeepStrictEqual } from "node:util";
import type { ResolvedAgent } from "@herdctl/config";
import { buildAllowedTools } from "../claude-settings.ts";
import type { ExecuteOptions } from "../runtime-interface.ts";
import type { RequiredAccess } from "./method-rules.ts";

type PermissionRules = Pick<
  ResolvedAgent,
  "permission_mode" | "allowed_tools" | "denied_tools" | "host_tools"
>;
type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

/**
 * Decides which calls reach a bridged server. Claude enforces the agent's rules itself, but a program
 * in its container can impersonate it, and the server is outside the container.
 */
export class ToolRules {
  private readonly oneTimeApprovals: { tool: string; input: unknown }[] = [];

  constructor(private readonly agent: PermissionRules) {}

  /** Remembers approvals by a person: each allows exactly one call with the same input. */
  rememberApprovals(ask: AskPermission | undefined): AskPermission | undefined {
    return (
      ask &&
      (async (request, signal) => {
        const answer = await ask(request, signal);
        if (answer.behavior === "allow" && request.tool.startsWith("mcp__")) {
          this.oneTimeApprovals.push({ tool: request.tool, input: answer.updatedInput });
        }
        return answer;
      })
    );
  }

  canCall(server: string, tool: string, input: unknown = {}): boolean {
    // These servers are on the host, but a limited agent file only controls its container.
    const { permission_mode, allowed_tools } =
      /* defence: host-server-tools */ this.agent.host_tools ?? this.agent;
    // defence: bridge-denied-tools
    if (isToolNamed(this.agent.denied_tools, server, tool)) return false;
    const rules = buildAllowedTools({ permission_mode, allowed_tools });
    if (permission_mode === "bypassPermissions" || isToolNamed(rules, server, tool)) return true;
    const index = this.oneTimeApprovals.findIndex(
      (approval) =>
        approval.tool === toolName(server, tool) && isDeepStrictEqual(approval.input, input),
    );
    return index !== -1 && this.oneTimeApprovals.splice(index, 1).length > 0;
  }

  /** Access to resources and prompts: allowed by Claude Code's tool for it, or with the whole server. */
  canAccess(server: string, access: Exclude<RequiredAccess, "tool">): boolean {
    if (access === "always") return true;
    const { permission_mode, allowed_tools, denied_tools } = this.agent;
    const named = (rules: readonly string[]) => {
      if (isServerNamed(rules, server)) return true;
      return (
        access !== "whole_server" &&
        rules.some((rule) => matchesPattern(rule, resourceTools[access]))
      );
    };
    if (named(denied_tools)) return false;
    // defence: bridge-resource-rules
    return permission_mode === "bypassPermissions" || named(allowed_tools);
  }
}

const resourceTools = {
  list_resources: "ListMcpResourcesTool",
  read_resources: "ReadMcpResourceTool",
} as const;

/** Whether rules such as `mcp__github__*` match a tool. */
export function isToolNamed(rules: readonly string[], server: string, tool: string): boolean {
  const name = toolName(server, tool);
  return rules.some(
    (rule) => rule === `mcp__${normalizeName(server)}` || matchesPattern(rule, name),
  );
}

/** A rule covers the whole server if it matches a tool name that cannot exist. */
function isServerNamed(rules: readonly string[], server: string): boolean {
  const name = `mcp__${normalizeName(server)}`;
  return rules.some((rule) => rule === name || matchesPattern(rule, `${name}__\0`));
}

function toolName(server: string, tool: string): string {
  return `mcp__${normalizeName(server)}__${normalizeName(tool)}`;
}

/** Normalizes names like Claude Code. */
function normalizeName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

function matchesPattern(rule: string, name: string): boolean {
  const parts = rule.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
