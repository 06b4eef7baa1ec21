import {
  findFleetFile,
  isFinished,
  type Job,
  loadFleet,
  outcomes,
  ShortFleet,
  type StateManager,
  type TriggerRequest,
} from "@herdctl/core";
import { type Call, textOption } from "./command.ts";
import { findJobIfAny } from "./find-job.ts";
import { type JobView, openView } from "./job-view.ts";
import { exitCodeOf } from "./show/status.ts";
import { listenForStop, type StopSignals } from "./stop-signals.ts";

/** Runs the job here, under the lock of the fleet, and stays until it is over. */
export async function triggerAlone(call: Call, request: TriggerRequest): Promise<number> {
  const { options, cwd, env, terminal } = call;
  const loaded = loadFleet(findFleetFile({ config: textOption(options, "config"), cwd }), env);
  const view = openView(terminal, options.wait === true);
  const stop = listenForStop(() => view.stopping());
  try {
    const onWait = () => terminal.note("Another herdctl works on this fleet; waiting for it …");
    const fleet = await ShortFleet.open(loaded, { onWait, signal: stop.signal });
    try {
      const { job, created } = await fleet.admit(await withWholeIds(fleet.state, request));
      if (!created) terminal.note("This key was used before: nothing runs, here is its job.");
      const ended =
        created && !isFinished(job.status) ? await perform(fleet, job, view, stop) : job;
      view.ended(ended);
      return exitCodeOf(ended);
    } finally {
      await fleet.close();
    }
  } finally {
    stop.dispose();
    view.close();
  }
}

/** Of a job's id the beginning is enough; whatever names no job is taken for a session. */
async function withWholeIds(state: StateManager, request: TriggerRequest): Promise<TriggerRequest> {
  const whole = async (id: string | undefined) => id && ((await findJobIfAny(state, id))?.id ?? id);
  return { ...request, resume: await whole(request.resume), fork: await whole(request.fork) };
}

async function perform(
  fleet: ShortFleet,
  job: Job,
  view: JobView,
  { signal, forced }: StopSignals,
): Promise<Job> {
  view.admitted(job);
  const { watch, partialMessages } = view;
  const running = fleet.run(job, { watch, partialMessages, signal });
  return Promise.race([running, forced.then(() => force(fleet, job, running))]);
}

const patience = 5_000;

/** Once nothing of it lives the run records its own end; if it does not, we do. */
async function force(fleet: ShortFleet, job: Job, running: Promise<Job>): Promise<Job> {
  await fleet.force(job);
  const late = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), patience).unref();
  });
  const ended = await Promise.race([running, late]);
  if (ended) return ended;
  running.catch(() => undefined);
  const { message, hint } = outcomes.cancelled;
  const outcome = { code: "cancelled" as const, message, hint };
  return (await fleet.state.jobs.update(job.id, { status: "cancelled", outcome })).job;
}
