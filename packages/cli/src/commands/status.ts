import type { AgentStatus, Approval, FleetControl, FleetStatus } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";
import { agentPageLines } from "../render/agent-page.ts";
import { agentTableLines } from "../render/agent-table.ts";
import { fleetStatusLines } from "../render/fleet-status-lines.ts";
import { agentOfApproval, pendingApprovalLines } from "../render/pending-approval-lines.ts";
import { sanitizeDeep } from "../render/sanitize-text.ts";
import { type TerminalStyle, terminalStyleOf } from "../render/terminal-style.ts";

const maxRecentJobs = 5;

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [name] = context.arguments;
  return withFleet(context, async (fleet) => {
    const status = await fleet.status();
    const agent = name === undefined ? undefined : findAgent(name, status);
    if (terminal.isJson) {
      terminal.printJson({ ...status, agents: agent ? [agent] : status.agents });
      return 0;
    }
    const approvals = await fleet.approvals.list();
    const lines = agent
      ? await agentDetailLines(context, fleet, agent, approvals)
      : overviewLines(context, status, approvals);
    for (const line of lines) terminal.print(line);
    return 0;
  });
}

function overviewLines(
  { terminal }: CommandContext,
  rawStatus: FleetStatus,
  approvals: Approval[],
): string[] {
  const [status, now, style] = [sanitizeDeep(rawStatus), new Date(), terminalStyleOf(terminal)];
  const table =
    status.agents.length === 0 ? [] : ["", ...agentTableLines(status.agents, now, style)];
  return [
    ...fleetStatusLines(status, now, style),
    ...table,
    ...approvalLines(status, approvals, style),
  ];
}

function approvalLines(
  status: Pick<FleetStatus, "agents">,
  approvals: Approval[],
  style: TerminalStyle,
): string[] {
  const lines = pendingApprovalLines({ approvals, status }, style);
  return lines.length === 0 ? [] : [...lines, style.colors.dim("  herdctl approvals")];
}

async function agentDetailLines(
  { terminal }: CommandContext,
  fleet: FleetControl,
  agent: AgentStatus,
  approvals: Approval[],
): Promise<string[]> {
  const query = { agent: agent.name, limit: maxRecentJobs };
  const { jobs: waiting } = await fleet.jobs.list({ ...query, status: "waiting" });
  const { jobs: recent } = await fleet.jobs.list(query);
  const [status, style] = [{ agents: [agent] }, terminalStyleOf(terminal)];
  const agentApprovals = approvals.filter(
    (approval) => agentOfApproval(approval, status) !== undefined,
  );
  const lines = agentPageLines(sanitizeDeep({ agent, waiting, recent }), new Date(), style);
  return [...lines, ...approvalLines(status, agentApprovals, style)];
}
