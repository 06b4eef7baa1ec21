import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { failPoint } from "../faults/fail-point.ts";
import { chooseTools, emptyTable } from "../herd-tools/choose-tools.ts";
import type { HerdTable } from "../herd-tools/herd-server.ts";
import { removeContainersOf } from "../runner/container/sweep-containers.ts";
import { JobExecutor, type OpenedAttempt } from "../runner/job-executor.ts";
import { knownSecrets } from "../runner/known-secrets.ts";
import { makeLiveFolder } from "../runner/live/live-folder.ts";
import { livePrint } from "../runner/live/print.ts";
import { Redactor } from "../runner/redactor.ts";
import { runTokenOf } from "../runner/run-order.ts";
import type { RunWatch } from "../runner/running-attempt.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import { RuntimeFactory } from "../runner/runtime/factory.ts";
import { launcherToken } from "../runner/sweep/launcher-token.ts";
import { sweepRun } from "../runner/sweep/sweep-run.ts";
import { writeOutcome } from "../state/outcome-file.ts";
import { currentProcess } from "../state/process-identity.ts";
import { OpenApprovals } from "./approvals.ts";
import { bareReport } from "./bare-report.ts";
import { claimRun } from "./claim-run.ts";
import type { RunnerAssignment, ToRunner } from "./contract.ts";
import { OpenErrands } from "./errands.ts";
import { GettingReady } from "./getting-ready.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { type BegunRun, endRun, LiveRun, type WaitingRun } from "./live-run.ts";
import { readReport } from "./recover.ts";
import { type LoggedRun, meteredOf, reportOfLog } from "./report-of-log.ts";
import { RunBudget } from "./run-budget.ts";
import { RunnerLog } from "./runner-log.ts";
import { RunnerSocket, runnerSocketPath } from "./runner-socket.ts";

/** One attempt from claim to outcome, unless somebody else has claimed it first. */
export async function carryOut(
  assignment: RunnerAssignment,
  live: LiveRun = new LiveRun(),
  ready?: GettingReady,
): Promise<void> {
  const { stateDir, order, environment } = assignment;
  const jobDir = join(stateDir, "jobs", order.jobId);
  const waiting = await live.take(order, environment);
  const claimed = claimRun(assignment, waiting);
  if (!claimed) {
    await ready?.giveUp();
    return waiting && endRun(waiting);
  }
  failPoint("runner began");
  const { file, run } = claimed;

  const log = new RunnerLog(jobDir, assignment);
  const { broken, unhear } = breakdown();
  try {
    await Promise.race([perform(assignment, { jobDir, log, live, waiting, ready }), broken]);
  } catch (error) {
    log.add("the runner broke down", error);
    const { jobId } = order;
    const { sessionId } = order.session;
    const redactor = new Redactor(knownSecrets(order.agent, environment));
    await tellOfBreakdown({ jobId, jobDir, sessionId, file, run, redactor }, log, error);
  } finally {
    unhear();
  }
}

/** Rejects with what nobody has caught. */
function breakdown(): { broken: Promise<never>; unhear: () => void } {
  const events = ["uncaughtException", "unhandledRejection"];
  let fail: (error: unknown) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  for (const event of events) process.on(event, fail);
  const unhear = () => {
    for (const event of events) process.off(event, fail);
  };
  return { broken, unhear };
}

interface Setting {
  jobDir: string;
  log: RunnerLog;
  live: LiveRun;
  waiting: WaitingRun | undefined;
  ready: GettingReady | undefined;
}

async function perform(assignment: RunnerAssignment, setting: Setting): Promise<void> {
  const { stateDir, order } = assignment;
  const { jobDir, log, waiting } = setting;
  const ending = new AbortController();
  const stop = (reason: "cancelled" | "interrupted", force: boolean) => {
    ending.abort(reason);
    if (!force) return;
    const runToken = waiting?.runToken ?? runTokenOf(order);
    void sweepOwn(runToken);
    if (order.place === "docker") void killContainers(assignment, runToken);
  };
  const lease = new LeaseWatch(assignment.lease);
  void lease.ended.then(() => stop("interrupted", true));
  const onTerminate = () => stop("interrupted", ending.signal.aborted);
  process.on("SIGTERM", onTerminate);

  const approvals = new OpenApprovals({
    asked: (asked) => socket.tell(asked),
    withdrawn: (withdrawn) => socket.tell(withdrawn),
  });
  const errands = new OpenErrands((line) => socket.tell(line));
  const budget = new RunBudget(order, (spent) => socket.tell(spent));
  const socket = new RunnerSocket(runnerSocketPath(jobDir), {
    greeting: () => [
      { type: "hello", job_id: order.jobId, attempt: order.attempt },
      ...approvals.all,
      ...errands.all,
      budget.told,
    ],
    onOrder: (given: ToRunner) => {
      if (given.type === "stop") stop(given.reason, given.force);
      else if (given.type === "spend_limits") budget.share(given.limits);
      else if (given.type === "answer") approvals.answer(given);
      else errands.answer(given);
    },
  });
  // After `claude` is on its way; and a runner that nobody can speak to still does its work.
  const listening = breathe()
    .then(() => socket.open())
    .catch((error) => log.add("nobody can connect to this runner", error));

  try {
    const { executor, table, opened } = await readyRun(assignment, setting);
    const watch: RunWatch = {
      onPermission: approvals.ask,
      onQuestion: approvals.question,
      onMeter: budget.attach,
      onTold: (report) =>
        void listening.then(() => {
          socket.tell({ type: "outcome", report });
          socket.close();
        }),
      ownTools: (run) =>
        chooseTools({ ...run, order, jobDir, stateDir, errand: errands.send }, table),
    };
    await executor.execute(order, watch, ending.signal, opened);
  } finally {
    await listening;
    socket.close();
    lease.stop();
    process.off("SIGTERM", onTerminate);
    failPoint("runner done");
  }
}

/** What carries the order out: a `claude` that waits for it, or one that is started for it. */
async function readyRun(
  assignment: RunnerAssignment,
  { live, waiting, ready }: Setting,
): Promise<{ executor: JobExecutor; table: HerdTable; opened?: Promise<OpenedAttempt> }> {
  const { stateDir, order, environment, spare } = assignment;
  const options = { stateDir, environment };
  if (!waiting) await live.end();
  if (!waiting && !order.live) {
    const { executor, opened } = ready ?? new GettingReady(assignment);
    return { executor, opened, table: emptyTable() };
  }
  const begun = waiting ?? beginLive(assignment);
  const executor = new JobExecutor(begun.runtime, {
    ...options,
    ...{ spare, waiting },
    runFolder: waiting ? undefined : makeLiveFolder(stateDir, begun.runToken),
    keep: (run, report) => live.keep(order, begun, run, report),
  });
  return { executor, table: begun.table };
}

function beginLive({ stateDir, order, environment }: RunnerAssignment): BegunRun {
  return {
    runToken: runTokenOf(order),
    // What it will read at its start is as it is now, or newer.
    print: livePrint(order, environment),
    runtime: RuntimeFactory.createLive(order.agent, { stateDir, environment }),
    table: emptyTable(),
  };
}

/** Its end is then seen, and told, as any other. */
async function killContainers(
  { stateDir, order, environment }: RunnerAssignment,
  runToken: string,
): Promise<void> {
  const manager = await ContainerManager.connect(environment);
  await removeContainersOf(manager, stateDir, order.jobId, [runToken]);
}

/** What our launcher became is in a control group that has its name. */
async function sweepOwn(runToken: string): Promise<void> {
  await sweepRun(launcherToken(currentProcess()));
  await sweepRun(runToken);
}

/** The run is ended, and what it came to is recorded with the bug as its outcome. */
async function tellOfBreakdown(run: LoggedRun, log: RunnerLog, error: unknown): Promise<void> {
  const { jobId, jobDir, sessionId, file } = run;
  await sweepOwn(runTokenOf({ jobId, attempt: file.attempt }));
  if (run.run.live) await sweepRun(run.run.live.run_token);
  if (await readReport(jobDir, file.attempt)) return;
  const said = log.redacted(error instanceof Error ? error.message : String(error));
  const refused = {
    code: "runtime_crashed" as const,
    message: `The runner broke down: ${said}`,
    hint: "This is a bug of herdctl; runner.log of the job tells more.",
  };
  const report = await reportOfLog(run, refused).catch(async (worse) => {
    log.add("what the run left cannot be read", worse);
    const metered = await meteredOf(jobDir, file.attempt);
    return bareReport({ jobId, attempt: file.attempt, sessionId }, { refused }, metered);
  });
  await writeOutcome(jobDir, report);
}
