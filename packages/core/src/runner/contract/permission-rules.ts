import type { ToolRule } from "@herdctl/protocol";
import { z } from "zod";

const suggestionSchema = z.looseObject({
  type: z.literal("addRules"),
  behavior: z.literal("allow"),
  rules: z.array(z.looseObject({ toolName: z.string(), ruleContent: z.string().optional() })),
});

/** Tools without inputs that a rule could limit. */
const wholeTools = ["WebSearch"];
const maxContentLength = 1_000;

/**
 * The rules that Claude Code suggests for a request. Only rules for the same tool count, and not for
 * the whole of a tool such as Bash. Other suggestions, such as another permission mode, are left out.
 */
export function readSuggestedRules(tool: string, suggestions: unknown): ToolRule[] {
  const rules = (Array.isArray(suggestions) ? suggestions : []).flatMap((suggestion) => {
    const { data } = suggestionSchema.safeParse(suggestion);
    return (data?.rules ?? []).map(({ toolName, ruleContent }) => ({
      tool: toolName,
      content: ruleContent ?? null,
    }));
  });
  // defence: suggested-rule-scope
  return rules.every((rule) => isAcceptable(rule, tool)) ? rules : [];
}

function isAcceptable({ tool, content }: ToolRule, requestedTool: string): boolean {
  if (tool !== requestedTool) return false;
  if (content === null) return tool.startsWith("mcp__") || wholeTools.includes(tool);
  const isPlain = !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(content);
  return isPlain && content.length <= maxContentLength && /[^\s*:]/.test(content);
}

/** How Claude Code is told about rules: they apply to the rest of its process. */
export interface SessionPermissions {
  type: "addRules";
  rules: { toolName: string; ruleContent?: string }[];
  behavior: "allow";
  destination: "session";
}

export function sessionPermissions(rules: readonly ToolRule[]): SessionPermissions[] {
  const added = rules.map(({ tool, content }) => ({
    toolName: tool,
    ...(content !== null && { ruleContent: content }),
  }));
  return [{ type: "addRules", rules: added, behavior: "allow", destination: "session" }];
}
