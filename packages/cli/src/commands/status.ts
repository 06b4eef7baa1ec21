import type { AgentStatus, Approval, FleetControl, FleetStatus, Job } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";
import { agentPageLines } from "../render/agent-page.ts";
import { agentTableLines } from "../render/agent-table.ts";
import { fleetStatusLines } from "../render/fleet-status-lines.ts";
import { agentOfApproval, pendingApprovalLines } from "../render/pending-approval-lines.ts";
import { sanitizeDeep } from "../render/sanitize-text.ts";
import {
  fallbackWidthColumns,
  type TerminalStyle,
  terminalStyleOf,
} from "../render/terminal-style.ts";
import { truncate } from "../render/text-width.ts";
import { formatWait } from "../render/wait-text.ts";

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
      : overviewLines(context, status, approvals, await listRetries(fleet, status));
    for (const line of lines) terminal.print(line);
    return 0;
  });
}

function overviewLines(
  { terminal }: CommandContext,
  rawStatus: FleetStatus,
  approvals: Approval[],
  retries: Job[],
): string[] {
  const [status, now, style] = [sanitizeDeep(rawStatus), new Date(), terminalStyleOf(terminal)];
  const table =
    status.agents.length === 0 ? [] : ["", ...agentTableLines(status.agents, now, style)];
  return [
    ...fleetStatusLines(status, now, style),
    ...table,
    ...retryLines(sanitizeDeep(retries), style),
    ...approvalLines(status, approvals, style),
  ];
}

const maxShownRetries = 3;

/** Jobs that wait for a limit or for their next attempt. */
async function listRetries(fleet: FleetControl, status: FleetStatus): Promise<Job[]> {
  if (status.fleet.waiting === 0) return [];
  const { jobs } = await fleet.jobs.list({ status: "waiting", limit: 20 });
  return jobs.filter(({ due_at }) => due_at !== null);
}

function retryLines(
  jobs: Job[],
  { colors, width = fallbackWidthColumns }: TerminalStyle,
): string[] {
  if (jobs.length === 0) return [];
  const lines = jobs
    .slice(0, maxShownRetries)
    .map((job) => colors.yellow(truncate(`◔ ${job.agent} ${formatWait(job)}`, width)));
  const more = jobs.length - maxShownRetries;
  return [
    "",
    ...lines,
    colors.dim(
      more > 0
        ? `  and ${more} more: herdctl jobs --status waiting`
        : "  herdctl jobs --status waiting",
    ),
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
