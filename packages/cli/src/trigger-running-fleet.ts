import { exitCodes, type Job, type TriggerRequest } from "@herdctl/protocol";
import { createAnswerHintPrinter } from "./answer-hint-printer.ts";
import type { CommandContext } from "./command.ts";
import type { FleetClient } from "./find-fleet.ts";
import { findJobIfAny } from "./find-job.ts";
import type { JobReporter } from "./job-reporter.ts";
import { readState } from "./read-state.ts";
import { ReconnectingFleetClient } from "./reconnecting-fleet-client.ts";
import { jobExitCode } from "./render/job-status.ts";
import { sanitizeText } from "./render/sanitize-text.ts";
import { listenForStopSignals, type StopSignals } from "./stop-signals.ts";
import { watchJob } from "./watch-job.ts";

/** Triggers the job in the running fleet. With `--wait`, watches it; Ctrl-C then cancels it. */
export async function triggerRunningFleet(
  context: CommandContext,
  fleet: FleetClient,
  request: TriggerRequest,
): Promise<number> {
  const resolvedRequest = await resolveIdPrefixes(context, request);
  if (context.options.wait === true) return submitAndWatch(context, fleet, resolvedRequest);
  return printAcceptedJob(context, await submitTrigger(context, fleet, resolvedRequest));
}

async function submitTrigger(
  { terminal }: CommandContext,
  fleet: FleetClient,
  request: TriggerRequest,
): Promise<Job> {
  const { job, created } = await fleet.jobs.trigger(request);
  if (!created) terminal.printNote("This key was used before. This is its job:");
  return job;
}

/** Listens for Ctrl-C before it triggers: the job may start before the response arrives. */
async function submitAndWatch(
  context: CommandContext,
  fleet: FleetClient,
  request: TriggerRequest,
): Promise<number> {
  const { terminal } = context;
  let reporter: JobReporter | undefined;
  const stop = listenForStopSignals(() => reporter?.onStopping());
  const client = new ReconnectingFleetClient(context, fleet);
  try {
    // Load the reporter while the fleet accepts the job.
    const [job, { createJobReporter }] = await Promise.all([
      submitTrigger(context, fleet, { ...request, stream: terminal.canRedraw }),
      import("./job-reporter.ts"),
    ]);
    reporter = createJobReporter(terminal, true);
    reporter.onAdmitted(job);
    if (stop.signal.aborted) reporter.onStopping();
    const ended = await waitForJobEnd(context, client, job, reporter, stop);
    reporter.onEnded(ended);
    return jobExitCode(ended);
  } finally {
    client.close();
    stop.dispose();
    reporter?.close();
  }
}

function printAcceptedJob({ terminal }: CommandContext, job: Job): number {
  const { dim } = terminal.colors;
  const isRefused = job.status === "skipped";
  if (terminal.isJson) terminal.printJson(job);
  else terminal.print(job.id);
  if (isRefused)
    terminal.printNote(`${job.outcome?.code}: ${sanitizeText(job.outcome?.message ?? "")}`);
  else if (!terminal.isJson) terminal.printNote(dim(`herdctl logs -f ${job.id}`));
  return isRefused ? exitCodes.refused : exitCodes.success;
}

/** Ctrl-C cancels the job; other signals, such as a closed terminal, only stop watching. */
async function waitForJobEnd(
  context: CommandContext,
  client: ReconnectingFleetClient,
  job: Job,
  reporter: JobReporter,
  { signal, forced }: StopSignals,
): Promise<Job> {
  const leaveController = new AbortController();
  const onStopSignal = () => {
    if (signal.reason !== "cancelled") return leaveController.abort();
    void client.request((fleet) => fleet.jobs.cancel(job.id)).catch(() => leaveController.abort());
    void forced
      .then(() => client.request((fleet) => fleet.jobs.cancel(job.id, { force: true })))
      .catch(() => leaveController.abort());
  };
  signal.addEventListener("abort", onStopSignal);
  if (signal.aborted) onStopSignal();
  try {
    const watch = { askPerson: createAnswerHintPrinter(context.terminal), ...reporter.watch };
    return await watchJob(client, job.id, watch, leaveController.signal);
  } catch (error) {
    if (!leaveController.signal.aborted) throw error;
    return readState(context, async (state) => (await state.jobs.get(job.id)) ?? job);
  }
}

/** Completes prefixes of job IDs; anything else is passed on as a session ID. */
export async function resolveIdPrefixes(
  context: CommandContext,
  request: TriggerRequest,
): Promise<TriggerRequest> {
  if (request.resume === undefined && request.fork === undefined) return request;
  return readState(context, async (state) => {
    const resolveId = async (id?: string) => id && ((await findJobIfAny(state, id))?.id ?? id);
    return {
      ...request,
      resume: await resolveId(request.resume),
      fork: await resolveId(request.fork),
    };
  });
}
