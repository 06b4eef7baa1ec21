import type { AgentStatus, Approval, FleetControl, FleetStatus } from "@herdctl/core";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { findAgent } from "../named-agent.ts";
import { agentPage } from "../show/agent-page.ts";
import { agentTable } from "../show/agent-table.ts";
import { askedLines } from "../show/asked-lines.ts";
import { fleetLines } from "../show/fleet-line.ts";
import { harmlessAll } from "../show/harmless.ts";
import { lookOf } from "../show/look.ts";

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
    const lines = agent
      ? await page(call, fleet, agent)
      : overview(call, status, await fleet.approvals());
    for (const line of lines) terminal.print(line);
    return 0;
  });
}

function overview({ terminal }: Call, given: FleetStatus, approvals: Approval[]): string[] {
  const [status, now, look] = [harmlessAll(given), new Date(), lookOf(terminal)];
  const table = status.agents.length === 0 ? [] : ["", ...agentTable(status.agents, now, look)];
  const asked = askedLines({ approvals, status }, look);
  const hint = asked.length === 0 ? [] : [look.colors.dim("  herdctl approvals")];
  return [...fleetLines(status, now, look), ...table, ...asked, ...hint];
}

async function page(
  { terminal }: Call,
  fleet: FleetControl,
  agent: AgentStatus,
): Promise<string[]> {
  const of = { agent: agent.name, limit: recentJobs };
  const { jobs: waiting } = await fleet.jobs({ ...of, status: "waiting" });
  const { jobs: recent } = await fleet.jobs(of);
  return agentPage(harmlessAll({ agent, waiting, recent }), new Date(), lookOf(terminal));
}
