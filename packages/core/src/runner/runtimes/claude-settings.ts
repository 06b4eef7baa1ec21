import type { ResolvedAgent } from "@herdctl/config";

/** Tools that change nothing. A rule such as `Read(docs/**)` names the tool before its parenthesis. */
const readOnlyTools = new Set([
  ...["Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch"],
  ...["Task", "Agent", "TodoWrite", "AskUserQuestion", "ExitPlanMode"],
]);

/** In plan mode, a rule must not let a tool change anything. herdctl's own tools stay available. */
export function buildAllowedTools({
  allowed_tools,
  permission_mode,
}: Pick<ResolvedAgent, "allowed_tools" | "permission_mode">): readonly string[] {
  if (permission_mode !== "plan") return allowed_tools;
  return allowed_tools.filter(
    (rule) => readOnlyTools.has(rule.replace(/\(.*$/s, "")) || rule.startsWith("mcp__herd__"),
  );
}

/** Tools with which a session can start further turns by itself later. */
const wakeupTools = ["CronCreate", "CronDelete", "CronList", "ScheduleWakeup"];

/** An unattended session may only wake itself up if its configuration allows it. */
export function buildDeniedTools({
  denied_tools,
  self_wakeup,
}: Pick<ResolvedAgent, "denied_tools" | "self_wakeup">): string[] {
  return [...denied_tools, .../* defence: no-self-wakeup */ (self_wakeup ? [] : wakeupTools)];
}
