import type { Hands } from "../../queue/contract.ts";
import type { FleetParts } from "../parts.ts";

/** From now on this process hears of other nodes, and they of it. Nothing where there are none. */
export async function openLines(parts: FleetParts, reload: Hands["reload"]): Promise<void> {
  const { queue, dispatcher, context } = parts;
  const { hub, site } = context;
  await queue.start({
    begin: (jobId) => dispatcher.begin(jobId),
    cancel: async (jobId, force) => cancelHere(parts, jobId, force),
    reload,
  });
  if (!site) return;
  // An overloaded API holds back all nodes, whichever of them found out.
  for (const type of ["job:waiting", "job:completed", "job:failed"] as const)
    hub.on(type, ({ job }) => void (job.outcome && dispatcher.heed(job.outcome)));
  site.news.onPlans(() => void readPlans(parts));
  await site.news.start();
}

export async function closeLines({ queue, context }: FleetParts): Promise<void> {
  await queue.stop();
  await context.site?.news.stop();
}

/** One that is just being begun cannot be stopped yet: the order comes again. */
function cancelHere({ dispatcher }: FleetParts, jobId: string, force: boolean): void {
  const active = dispatcher.active.get(jobId);
  if (!active && dispatcher.isActive(jobId)) throw new Error(`${jobId} is being begun`);
  active?.stop("cancelled", force);
}

async function readPlans({ plans, clock, context }: FleetParts): Promise<void> {
  try {
    await plans.read();
    await clock?.replan();
  } catch (error) {
    context.trouble("what agents have planned on another node is not known here yet", error);
  }
}
