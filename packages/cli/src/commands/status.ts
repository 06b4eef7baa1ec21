import type { AgentStatus, Approval, FleetControl, FleetStatus } from "@herdctl/core";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { findAgent } from "../named-agent.ts";
import { agentPage } from "../show/agent-page.ts";
import { agentTable } from "../show/agent-table.ts";
import { askedLines, ownerOf } from "../show/asked-lines.ts";
import { fleetLines } from "../show/fleet-line.ts";
import { harmlessAll } from "../show/harmless.ts";
import { type Look, lookOf } from "../show/look.ts";

const recentJobs = 5;

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [name] = call.arguments;
  return withFleet(call, async (fleet) => {
    const status = await fleet.status();
    const agent = name === undefined ? undefined : findAgent(name, status);
    if (terminal.json) {
      terminal.printJson({ ...status, agents: agent ? [agent] : status.agents });
      return 0;
    }
    const approvals = await fleet.approvals();
    const lines = agent
      ? await page(call, fleet, agent, approvals)
      : overview(call, status, approvals);
    for (const line of lines) terminal.print(line);
    return 0;
  });
}

function overview({ terminal }: Call, given: FleetStatus, approvals: Approval[]): string[] {
  const [status, now, look] = [harmlessAll(given), new Date(), lookOf(terminal)];
  const table = status.agents.length === 0 ? [] : ["", ...agentTable(status.agents, now, look)];
  return [...fleetLines(status, now, look), ...table, ...asked(status, approvals, look)];
}

function asked(status: Pick<FleetStatus, "agents">, approvals: Approval[], look: Look): string[] {
  const lines = askedLines({ approvals, status }, look);
  return lines.length === 0 ? [] : [...lines, look.colors.dim("  herdctl approvals")];
}

async function page(
  { terminal }: Call,
  fleet: FleetControl,
  agent: AgentStatus,
  approvals: Approval[],
): Promise<string[]> {
  const of = { agent: agent.name, limit: recentJobs };
  const { jobs: waiting } = await fleet.jobs({ ...of, status: "waiting" });
  const { jobs: recent } = await fleet.jobs(of);
  const [status, look] = [{ agents: [agent] }, lookOf(terminal)];
  const own = approvals.filter((approval) => ownerOf(approval, status) !== undefined);
  const lines = agentPage(harmlessAll({ agent, waiting, recent }), new Date(), look);
  return [...lines, ...asked(status, own, look)];
}
