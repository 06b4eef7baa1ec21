import { setTimeout as delay } from "node:timers/promises";
import { FleetManager } from "@herdctl/core";
import type { RunnerPool } from "@herdctl/core/internal";
import { isFinished, type Job, type TriggerRequest, UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { type FleetClient, findFleet, resolveFleetFile } from "./find-fleet.ts";
import { createJobReporter, type JobReporter } from "./job-reporter.ts";
import { readState } from "./read-state.ts";
import { jobExitCode } from "./render/job-status.ts";
import { listenForStopSignals, type StopSignals } from "./stop-signals.ts";
import { resolveIdPrefixes, triggerRunningFleet } from "./trigger-running-fleet.ts";
import { watchJob } from "./watch-job.ts";

/** Without a running fleet, the command itself runs one under the same lock until its job ends. */
export async function triggerStandalone(
  context: CommandContext,
  request: TriggerRequest,
  runnerPool: RunnerPool,
): Promise<number> {
  const result = await runStandaloneFleet(context, request, runnerPool);
  if (typeof result === "number") return result;
  try {
    return await triggerRunningFleet(context, result, request);
  } finally {
    result.close();
  }
}

/** Returns the exit code, or a client of the fleet that started while this waited for the lock. */
async function runStandaloneFleet(
  context: CommandContext,
  request: TriggerRequest,
  runnerPool: RunnerPool,
): Promise<number | FleetClient> {
  const { options, env, terminal } = context;
  const reporter = createJobReporter(terminal, options.wait === true);
  const stop = listenForStopSignals(() => reporter.onStopping());
  const fleet = new FleetManager({
    file: resolveFleetFile(context),
    env,
    runnerPool,
    ownJobsOnly: true,
    unattended: reporter.watch.askPerson === undefined,
    onError: (message) => terminal.printNote(message),
  });
  try {
    const otherFleet = await startOrFindFleet(context, fleet, stop.signal);
    return otherFleet ?? (await triggerAndWait(context, fleet, request, reporter, stop));
  } finally {
    await fleet.shutdown({ detach: true });
    stop.dispose();
    reporter.close();
  }
}

const pollIntervalMs = 200;

async function startOrFindFleet(
  context: CommandContext,
  fleet: FleetManager,
  signal: AbortSignal,
): Promise<FleetClient | undefined> {
  for (let hasNotified = false; ; hasNotified = true) {
    try {
      await fleet.start();
      return undefined;
    } catch (error) {
      const isBusy = error instanceof UserError && error.code === "fleet_running";
      if (!isBusy || signal.aborted) throw error;
    }
    const otherFleet = await findFleet(context).catch(() => undefined);
    if (otherFleet) return otherFleet;
    if (!hasNotified)
      context.terminal.printNote("Another herdctl process uses this fleet. Waiting for it …");
    await delay(pollIntervalMs);
  }
}

async function triggerAndWait(
  context: CommandContext,
  fleet: FleetManager,
  request: TriggerRequest,
  reporter: JobReporter,
  stop: StopSignals,
): Promise<number> {
  const { job, created } = await fleet.jobs.trigger({
    ...(await resolveIdPrefixes(context, request)),
    stream: reporter.wantsPartialMessages,
  });
  const isOver = isFinished(job.status);
  const jobStateText = isOver ? "Its job has ended" : "Continuing its job";
  if (!created) context.terminal.printNote(`This key was used before. ${jobStateText}:`);
  const ended = isOver ? job : await waitForJobEnd(context, fleet, job, reporter, stop);
  reporter.onEnded(ended);
  return jobExitCode(ended);
}

/** The command does not wait longer than this for a retry; the next fleet continues the job. */
const maxJobWaitMs = 5 * 60_000;

async function waitForJobEnd(
  context: CommandContext,
  fleet: FleetManager,
  job: Job,
  reporter: JobReporter,
  { signal, forced }: StopSignals,
): Promise<Job> {
  reporter.onAdmitted(job);
  if (isLongWait(job)) return job;
  const leaveController = new AbortController();
  const unsubscribe = fleet.on("job:waiting", ({ job: waiting }) => {
    if (waiting.id !== job.id || waiting.due_at === null) return;
    if (isLongWait(waiting)) leaveController.abort();
    else reporter.onWaiting(waiting);
  });
  const endJob = async (force: boolean) => {
    if (signal.reason === "cancelled") await fleet.jobs.cancel(job.id, { force });
    else await fleet.shutdown({ drainMs: 0 });
  };
  const onStopSignal = () => {
    void endJob(false).catch(() => undefined);
    void forced.then(() => endJob(true)).catch(() => undefined);
  };
  signal.addEventListener("abort", onStopSignal, { once: true });
  if (signal.aborted) onStopSignal();
  try {
    return await watchJob(
      { request: (question) => question(fleet) },
      job.id,
      reporter.watch,
      leaveController.signal,
    );
  } catch (error) {
    if (!leaveController.signal.aborted && !signal.aborted) throw error;
    return readState(context, async (state) => (await state.jobs.get(job.id)) ?? job);
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", onStopSignal);
  }
}

function isLongWait({ due_at }: Job): boolean {
  return due_at !== null && Date.parse(due_at) - Date.now() > maxJobWaitMs;
}
