import { exitCodes, type Job, type TriggerRequest, UserError } from "@herdctl/protocol";
import { createAnswerHintPrinter } from "./answer-hint-printer.ts";
import type { CommandContext } from "./command.ts";
import { readWaitReasons } from "./explain-job-wait.ts";
import { type FleetClient, findFleet } from "./find-fleet.ts";
import { findJobIfAny } from "./find-job.ts";
import type { JobReporter } from "./job-reporter.ts";
import { readState } from "./read-state.ts";
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
  const stream = context.options.wait === true && context.terminal.canRedraw;
  return submitToFleet(context, fleet, (client) =>
    submitTrigger(context, client, { ...resolvedRequest, ...(stream && { stream }) }),
  );
}

/** Submits a job and prints its ID; with `--wait`, watches it until it ends. */
export async function submitToFleet(
  context: CommandContext,
  fleet: FleetClient,
  submit: (fleet: FleetClient) => Promise<Job>,
): Promise<number> {
  if (context.options.wait === true) return submitAndWatch(context, fleet, submit);
  return printAcceptedJob(context, fleet, await submit(fleet));
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
  submit: (fleet: FleetClient) => Promise<Job>,
): Promise<number> {
  const { terminal } = context;
  let reporter: JobReporter | undefined;
  const stop = listenForStopSignals((reason) => {
    if (reason === "cancelled") reporter?.onStopping();
    else terminal.printNote("No longer watching; the job continues. To watch it: herdctl logs -f");
  });
  const client = new ReconnectingFleetClient(context, fleet);
  try {
    // Load the reporter while the fleet accepts the job.
    const [job, { createJobReporter }] = await Promise.all([
      submit(fleet),
      import("./job-reporter.ts"),
    ]);
    reporter = createJobReporter(terminal, true);
    reporter.onAdmitted(job);
    if (stop.signal.reason === "cancelled") reporter.onStopping();
    const ended = await waitForJobEnd(context, client, job, reporter, stop);
    reporter.onEnded(ended);
    return jobExitCode(ended);
  } finally {
    client.close();
    stop.dispose();
    reporter?.close();
  }
}

async function printAcceptedJob(
  { terminal }: CommandContext,
  fleet: FleetClient,
  job: Job,
): Promise<number> {
  const { dim, yellow } = terminal.colors;
  const isRefused = job.status === "skipped";
  if (terminal.isJson) terminal.printJson(job);
  else terminal.print(job.id);
  if (isRefused)
    terminal.printNote(`${job.outcome?.code}: ${sanitizeText(job.outcome?.message ?? "")}`);
  else if (!terminal.isJson) {
    const wait = (await readWaitReasons(fleet))(job);
    if (wait) terminal.printNote(yellow(`○ ${sanitizeText(wait.text)}`));
    terminal.printNote(dim(wait?.command ?? `herdctl logs -f ${job.id}`));
  }
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
  const stopExplaining = explainUntilStarted(client, job, reporter, leaveController.signal);
  try {
    const watch = { askPerson: createAnswerHintPrinter(context.terminal), ...reporter.watch };
    return await watchJob(client, job.id, watch, leaveController.signal);
  } catch (error) {
    if (!leaveController.signal.aborted) throw error;
    return readState(context, async (state) => (await state.jobs.get(job.id)) ?? job);
  } finally {
    stopExplaining();
  }
}

const explainIntervalMs = 1_000;

/** Shows why the job does not run yet, or no longer. */
function explainUntilStarted(
  client: ReconnectingFleetClient,
  { id }: Job,
  reporter: JobReporter,
  signal: AbortSignal,
): () => void {
  const ended = new AbortController();
  const explain = async () => {
    const wait = await client.request(
      async (fleet) => {
        const { job } = (await fleet.jobs.get(id)) ?? {};
        const needsReason = job?.status === "pending" || job?.status === "waiting";
        return needsReason ? (await readWaitReasons(fleet))(job) : undefined;
      },
      AbortSignal.any([signal, ended.signal]),
    );
    reporter.onExplained(wait && sanitizeText(wait.text));
  };
  const timer = setInterval(() => void explain().catch(() => undefined), explainIntervalMs);
  return () => {
    clearInterval(timer);
    ended.abort();
  };
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

const reconnectTimeoutMs = 30_000;
const pollIntervalMs = 100;

/** Repeats a request with the next fleet process if the fleet is restarted during the request. */
class ReconnectingFleetClient {
  constructor(
    private readonly context: CommandContext,
    private fleet: FleetClient,
  ) {}

  async request<T>(send: (fleet: FleetClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await send(this.fleet);
      } catch (error) {
        if (!isFleetUnreachable(error) || signal?.aborted) throw error;
        this.fleet = await this.reconnect(error, signal);
      }
    }
  }

  close(): void {
    this.fleet.close();
  }

  private async reconnect(error: unknown, signal: AbortSignal | undefined): Promise<FleetClient> {
    this.fleet.close();
    const deadline = Date.now() + reconnectTimeoutMs;
    while (Date.now() < deadline && !signal?.aborted) {
      const found = await findFleet(this.context).catch(() => undefined);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    }
    throw error;
  }
}

function isFleetUnreachable(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}
