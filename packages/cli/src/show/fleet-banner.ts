import type { AgentStatus, FleetStatus } from "@herdctl/core";
import { isLoopback } from "@herdctl/core/light";
import { runtimeText } from "./agent-now.ts";
import { countText } from "./amounts.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";
import { clockText } from "./wait-text.ts";

export interface BannerFacts {
  socket: string;
  /** The address that the port listens on. */
  host: string;
  /** Signs one browser in. */
  link?: string;
  reattached: number;
}

/** What a fleet says of itself when it starts. Its texts must be harmless. */
export function bannerLines(
  { fleet, agents }: FleetStatus,
  { socket, host, link, reattached }: BannerFacts,
  look: Look,
): string[] {
  const { bold, dim, green, cyan, yellow } = look.colors;
  const facts = [countText(agents.length, "agent"), `pid ${fleet.pid}`, `herdctl ${fleet.version}`];
  const taken = `◐ goes on with ${countText(reattached, "job")} that ran meanwhile`;
  return [
    `${green("●")} ${bold(fleet.name)}  ${dim(facts.join(" · "))}`,
    ...agentLines(agents, look).map((line) => `  ${line}`),
    dim(`  listens on ${socket}`),
    ...doorLines(fleet.url, link).map((line) => `  ${line}`),
    ...exposedLines(fleet.url, host).map((line) => yellow(`  ${line}`)),
    ...nextLine(agents).map((line) => `  ${cyan("◷")} ${line}`),
    ...(reattached > 0 ? [cyan(`  ${taken}`)] : []),
  ];
}

function doorLines(url: string | null, link: string | undefined): string[] {
  if (url === null) return [];
  return link === undefined
    ? [`open it in a browser: herdctl open  (${url})`]
    : [`open it in a browser: ${link}`];
}

/** Nobody should listen to the world without knowing what that means. */
function exposedLines(url: string | null, host: string): string[] {
  if (url === null || isLoopback(host)) return [];
  return [
    `! Other machines can reach it at ${host}. Whoever has the token there can run agents here,`,
    "  and without TLS in front of it the token can be read on the way.",
  ];
}

/** What the fleet does next if nobody asks for anything. */
function nextLine(agents: AgentStatus[]): string[] {
  const due = agents.flatMap(({ name, next_due }) => (next_due ? [{ name, ...next_due }] : []));
  const [first] = due.sort((a, b) => (a.due_at < b.due_at ? -1 : 1));
  return first ? [`next: ${first.name} ${first.schedule} at ${clockText(first.due_at)}`] : [];
}

const shownAgents = 20;

function agentLines(agents: AgentStatus[], look: Look): string[] {
  const { bold, dim, red } = look.colors;
  const columns: Column<AgentStatus>[] = [
    { title: "", text: ({ name }) => name, paint: () => bold },
    { title: "", text: runtimeText, paint: () => dim },
    {
      title: "",
      text: ({ paused, description }) =>
        paused ? `‖ paused: ${paused.reason}` : (description ?? ""),
      paint: ({ paused }) => (paused ? red : dim),
    },
  ];
  const width = look.width === undefined ? undefined : look.width - 2;
  const [, ...lines] = tableLines(columns, agents.slice(0, shownAgents), { ...look, width });
  const more = agents.length - shownAgents;
  return more > 0 ? [...lines, dim(`… and ${countText(more, "agent")} more`)] : lines;
}
