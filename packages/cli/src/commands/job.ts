import { type HookQuery, isFinished, type Job, type NodeView, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { explainWaits } from "../explain-job-wait.ts";
import { findJob } from "../find-job.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { readState } from "../read-state.ts";
import { approvalPageLines } from "../render/approval-page.ts";
import { jobPageLines } from "../render/job-page.ts";
import { type TerminalStyle, terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [id] = context.arguments;
  if (id === undefined) {
    throw new UserError("usage", "the ID of the job is missing", {
      hint: "Run `herdctl jobs` to list jobs and their IDs.",
    });
  }
  const { job, attempts } = await queryFleetOrState(
    context,
    async (fleet) => (await fleet.jobs.get(id)) ?? (await readRecord(context, id)),
    () => readRecord(context, id),
  );
  const query: HookQuery = { job: job.id, limit: 100 };
  const hooks = await queryFleetOrState(
    context,
    (fleet) => fleet.hooks.list(query),
    (state) => state.hooks.list(query),
  );
  if (terminal.isJson) {
    terminal.printJson(job);
    return 0;
  }
  const style = terminalStyleOf(terminal);
  const approvalLines = isFinished(job.status) ? [] : await openApprovalPages(context, job, style);
  const node = job.node === null ? undefined : await findNode(context, job.node);
  const wait = (await explainWaits(context, [job]))(job);
  for (const line of [
    ...jobPageLines(job, attempts, hooks.reverse(), style, node, wait),
    ...approvalLines,
  ])
    terminal.print(line);
  return 0;
}

/** The pending requests of the job, and how to answer them. */
async function openApprovalPages(
  context: CommandContext,
  job: Job,
  style: TerminalStyle,
): Promise<string[]> {
  const open = await readState(context, (state) => state.approvals.listOpen(job.id));
  const pages = open.flatMap((approval) => approvalPageLines(approval, job, new Date(), style));
  return pages.length === 0 ? [] : ["", ...pages];
}

/** Accepts a unique prefix of the ID. */
function readRecord(context: CommandContext, id: string) {
  return readState(context, async (state) => {
    const job = await findJob(state, id);
    return { job, attempts: await state.jobs.listAttempts(job.id) };
  });
}

/** The node that the job ran on or is assigned to. */
async function findNode(context: CommandContext, id: string): Promise<NodeView | undefined> {
  const nodes = await queryFleetOrState(
    context,
    (fleet) => fleet.nodes.list(),
    async (state) => {
      const { listNodes } = await import("@herdctl/core/internal");
      return listNodes(state, new Date());
    },
  );
  return nodes.find((node) => node.id === id);
}
