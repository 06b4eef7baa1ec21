import { existsSync } from "node:fs";
import type { Problem } from "@herdctl/protocol";
import type { ResolvedAgent } from "../resolve-agent.ts";
import { didYouMean } from "../yaml/did-you-mean.ts";
import { keyPositionOf, type Tree, valuePositionOf } from "../yaml/tree.ts";

/** Problems that do not prevent a start, such as a tool that does not exist. */
export function collectAdvice(
  root: Tree,
  agents: readonly { agent: ResolvedAgent; tree: Tree }[],
): Problem[] {
  const advice = agents.flatMap(({ agent, tree }) => [
    ...checkToolRules("allowed_tools", agent.allowed_tools, tree),
    ...checkToolRules("denied_tools", agent.denied_tools, tree),
    ...checkPaths(agent, tree),
  ]);
  return agents.length === 0 ? [noAgents(root), ...advice] : advice;
}

function noAgents(root: Tree): Problem {
  return {
    ...keyPositionOf(root, ["agents"]),
    path: "agents",
    message: "the fleet has no agents",
    hint: "Add one, such as `agents: [{ name: hello, default_prompt: Say hello. }]`.",
  };
}

function checkToolRules(key: string, rules: readonly string[], tree: Tree): Problem[] {
  return rules.flatMap((rule, index) => {
    const found = explainToolRule(rule);
    if (found === undefined) return [];
    return [{ ...valuePositionOf(tree, [key, index]), path: `${key}[${index}]`, ...found }];
  });
}

/** What is wrong with a permission rule such as `Bash(npm test)` or `mcp__github__*`. */
export function explainToolRule(rule: string): Pick<Problem, "message" | "hint"> | undefined {
  const opening = rule.indexOf("(");
  if (opening >= 0 && !rule.endsWith(")"))
    return { message: `\`${rule}\` has no closing parenthesis`, hint: `Write \`"${rule})"\`.` };
  if (opening < 0 && rule.endsWith(")"))
    return { message: `\`${rule}\` has no opening parenthesis`, hint: "Write `Tool(rule)`." };
  const tool = opening < 0 ? rule : rule.slice(0, opening);
  if (tool.startsWith("mcp__") || tool.includes("*") || claudeTools.has(tool)) return undefined;
  const known = [...claudeTools];
  const sameName = known.find((name) => name.toLowerCase() === tool.toLowerCase());
  const suggestion = sameName ?? didYouMean(tool, known);
  return {
    message: `Claude Code has no tool \`${tool}\` that herdctl knows`,
    hint: suggestion
      ? `Did you mean \`${suggestion}\`? The rule has no effect otherwise.`
      : "Check the name: a rule for a tool that does not exist has no effect.",
  };
}

const claudeTools = new Set([
  ...["Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList"],
  ...["Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep"],
  ...[
    "KillBash",
    "KillShell",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
  ],
  ...[
    "NotebookRead",
    "PowerShell",
    "PushNotification",
    "Read",
    "ReadMcpResourceTool",
    "RemoteTrigger",
  ],
  ...["ScheduleWakeup", "SendMessage", "SendUserFile", "Skill", "SlashCommand", "StructuredOutput"],
  ...["Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate"],
  ...["TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch"],
  ...["Workflow", "Write"],
]);

/** Not an error, because the machine that runs the agent may be another one. */
function checkPaths(agent: ResolvedAgent, tree: Tree): Problem[] {
  const plugins = agent.plugins.map((path, index) => ({ path, at: ["plugins", index] as const }));
  const commands = Object.entries(agent.mcp_servers).flatMap(([name, server]) => {
    const isInContainer = agent.docker.enabled && server.run === "container";
    if (!("command" in server) || isInContainer || !server.command.startsWith("/")) return [];
    return [{ path: server.command, at: ["mcp_servers", name, "command"] as const }];
  });
  return [...plugins, ...commands]
    .filter(({ path }) => !existsSync(path))
    .map(({ path, at }) => ({
      ...valuePositionOf(tree, at),
      path: at.join("."),
      message: `${path} does not exist`,
      hint: "Correct the path. It is relative to the file in which it is written.",
    }));
}
