import type { Job, TriggerRequest } from "@herdctl/core";
import { exitCodes } from "@herdctl/core/light";
import type { Call } from "./command.ts";
import { findJobIfAny } from "./find-job.ts";
import type { FleetClient } from "./fleet-access.ts";
import { FleetLine } from "./fleet-line.ts";
import type { JobView } from "./job-view.ts";
import { readState } from "./read-state.ts";
import { harmless } from "./show/harmless.ts";
import { exitCodeOf } from "./show/status.ts";
import { listenForStop, type StopSignals } from "./stop-signals.ts";
import { tellHowToAnswer } from "./tell-how-to-answer.ts";
import { watchJob } from "./watch-job.ts";

/** Gives the job to the fleet that runs; with `--wait` stays to watch it, and Ctrl-C cancels it. */
export async function triggerFleet(
  call: Call,
  fleet: FleetClient,
  request: TriggerRequest,
): Promise<number> {
  const whole = await withWholeIds(call, request);
  if (call.options.wait === true) return giveAndWatch(call, fleet, whole);
  return accepted(call, await give(call, fleet, whole));
}

async function give({ terminal }: Call, fleet: FleetClient, request: TriggerRequest): Promise<Job> {
  const { job, created } = await fleet.trigger(request);
  if (!created) terminal.note("This key was used before: here is its job.");
  return job;
}

/** Ctrl-C is heard before the fleet is asked: the job may be at work before its answer is here. */
async function giveAndWatch(
  call: Call,
  fleet: FleetClient,
  request: TriggerRequest,
): Promise<number> {
  const { terminal } = call;
  let view: JobView | undefined;
  const stop = listenForStop(() => view?.stopping());
  const line = new FleetLine(call, fleet);
  try {
    // What shows the job is loaded while the fleet accepts it.
    const [job, { openView }] = await Promise.all([
      give(call, fleet, { ...request, watched: terminal.live }),
      import("./job-view.ts"),
    ]);
    view = openView(terminal, true);
    view.admitted(job);
    if (stop.signal.aborted) view.stopping();
    const ended = await untilEnded(call, line, job, view, stop);
    view.ended(ended);
    return exitCodeOf(ended);
  } finally {
    line.close();
    stop.dispose();
    view?.close();
  }
}

function accepted({ terminal }: Call, job: Job): number {
  const { dim } = terminal.colors;
  const isRefused = job.status === "skipped";
  if (terminal.json) terminal.printJson(job);
  else terminal.print(job.id);
  if (isRefused) terminal.note(`${job.outcome?.code}: ${harmless(job.outcome?.message ?? "")}`);
  else if (!terminal.json) terminal.note(dim(`herdctl logs -f ${job.id}`));
  return isRefused ? exitCodes.refused : exitCodes.success;
}

/** A terminal that is closed only takes the onlooker away: the job is the fleet's. */
async function untilEnded(
  call: Call,
  line: FleetLine,
  job: Job,
  view: JobView,
  { signal, forced }: StopSignals,
): Promise<Job> {
  const left = new AbortController();
  const heed = () => {
    if (signal.reason !== "cancelled") return left.abort();
    void line.ask((fleet) => fleet.cancel(job.id)).catch(() => left.abort());
    void forced
      .then(() => line.ask((fleet) => fleet.cancel(job.id, { force: true })))
      .catch(() => left.abort());
  };
  signal.addEventListener("abort", heed);
  if (signal.aborted) heed();
  try {
    const watch = { askPerson: tellHowToAnswer(call.terminal), ...view.watch };
    return await watchJob(line, job.id, watch, left.signal);
  } catch (error) {
    if (!left.signal.aborted) throw error;
    return readState(call, async (state) => (await state.jobs.get(job.id)) ?? job);
  }
}

/** Of a job's id the beginning is enough; whatever names no job is taken for a session. */
export async function withWholeIds(call: Call, request: TriggerRequest): Promise<TriggerRequest> {
  if (request.resume === undefined && request.fork === undefined) return request;
  return readState(call, async (state) => {
    const whole = async (id?: string) => id && ((await findJobIfAny(state, id))?.id ?? id);
    return { ...request, resume: await whole(request.resume), fork: await whole(request.fork) };
  });
}
