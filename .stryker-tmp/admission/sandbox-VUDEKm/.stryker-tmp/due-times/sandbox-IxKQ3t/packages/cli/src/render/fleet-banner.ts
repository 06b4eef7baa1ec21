import { isLoopback } from "@herdctl/config";
import type { AgentStatus, FleetStatus } from "@herdctl/protocol";
import { runtimeText } from "./agent-activity.ts";
import { formatCount } from "./format-amounts.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime } from "./wait-text.ts";

export interface BannerInfo {
  socket: string;
  /** The address that the HTTP server listens on. */
  host: string;
  /** Signs in one browser. */
  loginUrl?: string;
  reattached: number;
}

/** The first output of a fleet in the foreground. Expects sanitized texts. */
export function bannerLines(
  { fleet, agents }: FleetStatus,
  { socket, host, loginUrl, reattached }: BannerInfo,
  style: TerminalStyle,
): string[] {
  const { bold, dim, green, cyan, yellow } = style.colors;
  const facts = [
    formatCount(agents.length, "agent"),
    `pid ${fleet.pid}`,
    `herdctl ${fleet.version}`,
  ];
  const reattachedText = `◐ adopted ${formatCount(reattached, "running job")}`;
  return [
    `${green("●")} ${bold(fleet.name)}  ${dim(facts.join(" · "))}`,
    ...agentLines(agents, style).map((line) => `  ${line}`),
    dim(`  socket: ${socket}`),
    ...browserLines(fleet.url, loginUrl).map((line) => `  ${line}`),
    ...exposureWarningLines(fleet.url, host).map((line) => yellow(`  ${line}`)),
    ...nextDueLines(agents).map((line) => `  ${cyan("◷")} ${line}`),
    ...(reattached > 0 ? [cyan(`  ${reattachedText}`)] : []),
  ];
}

function browserLines(url: string | null, loginUrl: string | undefined): string[] {
  if (url === null) return [];
  return loginUrl === undefined
    ? [`dashboard: ${url}  (sign in with \`herdctl open\`)`]
    : [`dashboard: ${loginUrl}`];
}

function exposureWarningLines(url: string | null, host: string): string[] {
  if (url === null || isLoopback(host)) return [];
  return [
    `! Other machines can reach the fleet at ${host}. Anyone with its token can run agents here.`,
    "  Put a TLS proxy in front of it, or tokens can be read on the network.",
  ];
}

function nextDueLines(agents: AgentStatus[]): string[] {
  const due = agents.flatMap(({ name, next_due }) => (next_due ? [{ name, ...next_due }] : []));
  const [first] = due.sort((a, b) => (a.due_at < b.due_at ? -1 : 1));
  return first ? [`next: ${first.name} ${first.schedule} at ${formatTime(first.due_at)}`] : [];
}

const maxShownAgents = 20;

function agentLines(agents: AgentStatus[], style: TerminalStyle): string[] {
  const { bold, dim, red } = style.colors;
  const columns: Column<AgentStatus>[] = [
    { title: "", text: ({ name }) => name, color: () => bold },
    { title: "", text: runtimeText, color: () => dim },
    {
      title: "",
      text: ({ paused, description }) =>
        paused ? `‖ paused: ${paused.reason}` : (description ?? ""),
      color: ({ paused }) => (paused ? red : dim),
    },
  ];
  const width = style.width === undefined ? undefined : style.width - 2;
  const [, ...lines] = tableLines(columns, agents.slice(0, maxShownAgents), { ...style, width });
  const more = agents.length - maxShownAgents;
  return more > 0 ? [...lines, dim(`… and ${formatCount(more, "more agent")}`)] : lines;
}
