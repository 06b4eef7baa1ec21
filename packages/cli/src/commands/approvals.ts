import type { Approval, Job } from "@herdctl/core";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { readState } from "../read-state.ts";
import { approvalPage } from "../show/approval-page.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const open = await askFleet(
    call,
    (fleet) => fleet.approvals(),
    (state) => state.approvals.open(),
  );
  if (terminal.json) {
    terminal.printJson({ approvals: open });
    return 0;
  }
  if (open.length === 0) terminal.print("Nobody asks for anything.");
  const [now, look] = [new Date(), lookOf(terminal)];
  for (const approval of open) {
    const job = await jobOf(call, approval);
    for (const line of approvalPage(approval, job, now, look)) terminal.print(line);
  }
  return 0;
}

function jobOf(call: Call, { job_id }: Approval): Promise<Job | undefined> {
  return readState(call, (state) => state.jobs.get(job_id));
}
