import type { AgentStatus } from "@herdctl/core";
import { ageText, countText, elapsedText } from "./amounts.ts";
import type { Look } from "./look.ts";

/** What an agent is at, in a line. Its texts must be harmless. */
export function agentNow(agent: AgentStatus, now: Date): string {
  const [first, ...others] = agent.running;
  const parts = [
    first && `◐ ${sinceText(first.started_at, now)}${whereText(first)}  ${oneLine(first.doing)}`,
    others.length > 0 && `and ${countText(others.length, "job")} more`,
    agent.paused && `‖ paused ${ageText(agent.paused.since, now)}: ${oneLine(agent.paused.reason)}`,
    agent.waiting > 0 && `◔ ${agent.waiting} waiting`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0 ? "idle" : parts.join("  ");
}

export function agentNowColour(agent: AgentStatus, { colors }: Look): (text: string) => string {
  if (agent.paused) return colors.red;
  if (agent.running.length > 0) return colors.cyan;
  return agent.waiting > 0 ? colors.yellow : colors.dim;
}

/** How it is run, in a word. */
export function runtimeText({ runtime, docker }: Pick<AgentStatus, "runtime" | "docker">): string {
  return docker ? `${runtime} · docker` : runtime;
}

export function sinceText(time: string, now: Date): string {
  return elapsedText(Math.max(0, now.getTime() - Date.parse(time)));
}

/** Among several machines. */
function whereText({ node }: AgentStatus["running"][number]): string {
  return node ? ` on ${node}` : "";
}

function oneLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
