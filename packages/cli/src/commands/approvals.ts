import type { Approval, Job } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { readState } from "../read-state.ts";
import { approvalPageLines } from "../render/approval-page.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const open = await queryFleetOrState(
    context,
    (fleet) => fleet.approvals.list(),
    (state) => state.approvals.listOpen(),
  );
  if (terminal.isJson) {
    terminal.printJson({ approvals: open });
    return 0;
  }
  if (open.length === 0) terminal.print("No pending requests or questions.");
  const [now, style] = [new Date(), terminalStyleOf(terminal)];
  for (const approval of open) {
    const job = await jobOf(context, approval);
    for (const line of approvalPageLines(approval, job, now, style)) terminal.print(line);
  }
  return 0;
}

function jobOf(context: CommandContext, { job_id }: Approval): Promise<Job | undefined> {
  return readState(context, (state) => state.jobs.get(job_id));
}
