import { mayUse, type ToolRules } from "./may-use.ts";

/** On this machine nothing but its permissions keeps an agent from the web. */
export function webTools(rules: ToolRules): string[] {
  return ["WebFetch", "WebSearch"].filter((tool) => mayUse(rules, tool));
}
