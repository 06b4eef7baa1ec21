import type { Job, NodeView } from "@herdctl/core";
import { isFinished, UserError } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { approvalPage } from "../show/approval-page.ts";
import { jobPage } from "../show/job-page.ts";
import { type Look, lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [id] = call.arguments;
  if (id === undefined) {
    throw new UserError("usage", "which job?", { hint: "Run `herdctl jobs` to see their ids." });
  }
  const { job, attempts } = await askFleet(
    call,
    async (fleet) => (await fleet.job(id)) ?? (await readRecord(call, id)),
    () => readRecord(call, id),
  );
  const query = { jobId: job.id, limit: 100 };
  const hooks = await askFleet(
    call,
    (fleet) => fleet.hooks(query),
    (state) => state.hooks.list(query),
  );
  if (terminal.json) {
    terminal.printJson(job);
    return 0;
  }
  const look = lookOf(terminal);
  const asked = isFinished(job.status) ? [] : await askedBy(call, job, look);
  const node = job.node === null ? undefined : await nodeOf(call, job.node);
  for (const line of [...jobPage(job, attempts, hooks.reverse(), look, node), ...asked])
    terminal.print(line);
  return 0;
}

/** What it waits for of people, and how to answer. */
async function askedBy(call: Call, job: Job, look: Look): Promise<string[]> {
  const open = await readState(call, (state) => state.approvals.open(job.id));
  const pages = open.flatMap((approval) => approvalPage(approval, job, new Date(), look));
  return pages.length === 0 ? [] : ["", ...pages];
}

/** Of its id the beginning is enough. */
function readRecord(call: Call, id: string) {
  return readState(call, async (state) => {
    const job = await findJob(state, id);
    return { job, attempts: await state.jobs.attempts(job.id) };
  });
}

/** Where it ran, or is to run, among several machines. */
async function nodeOf(call: Call, id: string): Promise<NodeView | undefined> {
  const nodes = await askFleet(
    call,
    (fleet) => fleet.nodes(),
    async (state) => {
      const { listNodes } = await import("@herdctl/core");
      return listNodes(state, new Date());
    },
  );
  return nodes.find((node) => node.id === id);
}
