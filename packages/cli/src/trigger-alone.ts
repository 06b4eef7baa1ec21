import { setTimeout as delay } from "node:timers/promises";
import type { Job, SparePool, TriggerRequest } from "@herdctl/core";
import { FleetManager } from "@herdctl/core/fleet";
import { isFinished, UserError } from "@herdctl/core/light";
import type { Call } from "./command.ts";
import { type FleetClient, findFleet, fleetFileOf } from "./fleet-access.ts";
import { type JobView, openView } from "./job-view.ts";
import { readState } from "./read-state.ts";
import { exitCodeOf } from "./show/status.ts";
import { listenForStop, type StopSignals } from "./stop-signals.ts";
import { triggerFleet, withWholeIds } from "./trigger-fleet.ts";
import { watchJob } from "./watch-job.ts";

/** Where no fleet runs the command is one itself, under the same lock, until its job is over. */
export async function triggerAlone(
  call: Call,
  request: TriggerRequest,
  spares: SparePool,
): Promise<number> {
  const done = await triggerHere(call, request, spares);
  if (typeof done === "number") return done;
  try {
    return await triggerFleet(call, done, request);
  } finally {
    done.close();
  }
}

/** The exit code, or the fleet that came up while we waited for the lock. */
async function triggerHere(
  call: Call,
  request: TriggerRequest,
  spares: SparePool,
): Promise<number | FleetClient> {
  const { options, env, terminal } = call;
  const view = openView(terminal, options.wait === true);
  const stop = listenForStop(() => view.stopping());
  const fleet = new FleetManager({
    file: fleetFileOf(call),
    env,
    spares,
    onlyOwn: true,
    unattended: view.watch.askPerson === undefined,
    onTrouble: (message) => terminal.note(message),
  });
  try {
    const other = await startOrFind(call, fleet, stop.signal);
    return other ?? (await perform(call, fleet, request, view, stop));
  } finally {
    await fleet.shutdown({ detach: true });
    stop.dispose();
    view.close();
  }
}

const pollEvery = 200;

async function startOrFind(
  call: Call,
  fleet: FleetManager,
  signal: AbortSignal,
): Promise<FleetClient | undefined> {
  for (let told = false; ; told = true) {
    try {
      await fleet.start();
      return undefined;
    } catch (error) {
      const isBusy = error instanceof UserError && error.code === "fleet_running";
      if (!isBusy || signal.aborted) throw error;
    }
    const other = await findFleet(call).catch(() => undefined);
    if (other) return other;
    if (!told) call.terminal.note("Another herdctl works on this fleet; waiting for it …");
    await delay(pollEvery);
  }
}

async function perform(
  call: Call,
  fleet: FleetManager,
  request: TriggerRequest,
  view: JobView,
  stop: StopSignals,
): Promise<number> {
  const watched = view.partialMessages;
  const { job, created } = await fleet.trigger({ ...(await withWholeIds(call, request)), watched });
  const isOver = isFinished(job.status);
  const goesOn = isOver ? "nothing runs, here is its job" : "its job goes on";
  if (!created) call.terminal.note(`This key was used before: ${goesOn}.`);
  const ended = isOver ? job : await untilOver(call, fleet, job, view, stop);
  view.ended(ended);
  return exitCodeOf(ended);
}

/** For longer than this nobody keeps a terminal open: the next fleet goes on with the job. */
const patience = 5 * 60_000;

async function untilOver(
  call: Call,
  fleet: FleetManager,
  job: Job,
  view: JobView,
  { signal, forced }: StopSignals,
): Promise<Job> {
  view.admitted(job);
  if (waitsLong(job)) return job;
  const left = new AbortController();
  const unheed = fleet.on("job:waiting", ({ job: waiting }) => {
    if (waiting.id !== job.id || waiting.due_at === null) return;
    if (waitsLong(waiting)) left.abort();
    else view.waits(waiting);
  });
  const end = async (force: boolean) => {
    if (signal.reason === "cancelled") await fleet.cancel(job.id, { force });
    else await fleet.shutdown({ drainMs: 0 });
  };
  const stop = () => {
    void end(false).catch(() => undefined);
    void forced.then(() => end(true)).catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await watchJob({ ask: (question) => question(fleet) }, job.id, view.watch, left.signal);
  } catch (error) {
    if (!left.signal.aborted && !signal.aborted) throw error;
    return readState(call, async (state) => (await state.jobs.get(job.id)) ?? job);
  } finally {
    unheed();
    signal.removeEventListener("abort", stop);
  }
}

function waitsLong({ due_at }: Job): boolean {
  return due_at !== null && Date.parse(due_at) - Date.now() > patience;
}
