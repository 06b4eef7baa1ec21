import type { AgentStatus } from "@herdctl/protocol";
import { formatAge, formatCount, formatElapsed } from "./format-amounts.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** The activity of an agent on one line. Expects sanitized texts. */
export function agentActivityText(agent: AgentStatus, now: Date): string {
  const [first, ...others] = agent.running;
  const parts = [
    first &&
      `◐ ${formatElapsedSince(first.started_at, now)}${nodeSuffix(first)}  ${firstLine(first.activity)}`,
    others.length > 0 && `and ${formatCount(others.length, "more job")}`,
    agent.paused &&
      `‖ paused ${formatAge(agent.paused.since, now)}: ${firstLine(agent.paused.reason)}`,
    agent.pending > 0 && agent.running.length === 0 && `○ ${agent.pending} queued`,
    agent.waiting > 0 && `◔ ${agent.waiting} waiting`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0 ? "idle" : parts.join("  ");
}

export function agentActivityColor(
  agent: AgentStatus,
  { colors }: TerminalStyle,
): (text: string) => string {
  if (agent.paused) return colors.red;
  if (agent.running.length > 0) return colors.cyan;
  return agent.waiting > 0 ? colors.yellow : colors.dim;
}

/** `sdk`, `cli` or either with `· docker`. */
export function runtimeText({ runtime, docker }: Pick<AgentStatus, "runtime" | "docker">): string {
  return docker ? `${runtime} · docker` : runtime;
}

export function formatElapsedSince(time: string, now: Date): string {
  return formatElapsed(Math.max(0, now.getTime() - Date.parse(time)));
}

/** Only for a fleet on several machines. */
function nodeSuffix({ node }: AgentStatus["running"][number]): string {
  return node ? ` on ${node}` : "";
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
