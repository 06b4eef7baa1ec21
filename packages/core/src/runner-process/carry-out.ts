import { join } from "node:path";
import { failPoint } from "../faults/fail-point.ts";
import { chooseTools } from "../herd-tools/choose-tools.ts";
import { sweepContainers } from "../runner/container/sweep-containers.ts";
import { JobExecutor } from "../runner/job-executor.ts";
import { runTokenOf } from "../runner/run-order.ts";
import type { RunWatch } from "../runner/running-attempt.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import { RuntimeFactory } from "../runner/runtime/factory.ts";
import { sweepRun } from "../runner/sweep/sweep-run.ts";
import { writeOutcome } from "../state/outcome-file.ts";
import { OpenApprovals } from "./approvals.ts";
import { bareReport } from "./bare-report.ts";
import { claimRun } from "./claim-run.ts";
import type { RunnerAssignment, ToRunner } from "./contract.ts";
import { OpenErrands } from "./errands.ts";
import { readReport } from "./recover.ts";
import { type LoggedRun, reportOfLog } from "./report-of-log.ts";
import { RunnerLog } from "./runner-log.ts";
import { RunnerSocket, runnerSocketPath } from "./runner-socket.ts";

/** One attempt from claim to outcome, unless somebody else has claimed it first. */
export async function carryOut(assignment: RunnerAssignment): Promise<void> {
  const { stateDir, order } = assignment;
  const jobDir = join(stateDir, "jobs", order.jobId);
  const claimed = claimRun(assignment);
  if (!claimed) return;
  failPoint("runner began");
  const { file, run } = claimed;

  const log = new RunnerLog(jobDir, assignment);
  const { broken, unhear } = breakdown();
  try {
    await Promise.race([perform(assignment, jobDir, log), broken]);
  } catch (error) {
    log.add("the runner broke down", error);
    const { jobId } = order;
    const { sessionId } = order.session;
    await tellOfBreakdown({ jobId, jobDir, sessionId, file, run }, log, error);
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

async function perform(
  { stateDir, order, environment, spare }: RunnerAssignment,
  jobDir: string,
  log: RunnerLog,
): Promise<void> {
  const ending = new AbortController();
  const stop = (reason: "cancelled" | "interrupted", force: boolean) => {
    ending.abort(reason);
    if (!force) return;
    void sweepRun(runTokenOf(order));
    if (order.place === "docker") void killContainersOf(order.jobId, stateDir, environment);
  };
  const onTerminate = () => stop("interrupted", ending.signal.aborted);
  process.on("SIGTERM", onTerminate);

  const approvals = new OpenApprovals({
    asked: (asked) => socket.tell(asked),
    withdrawn: (withdrawn) => socket.tell(withdrawn),
  });
  const errands = new OpenErrands((line) => socket.tell(line));
  const socket = new RunnerSocket(runnerSocketPath(jobDir), {
    greeting: () => [
      { type: "hello", job_id: order.jobId, attempt: order.attempt },
      ...approvals.all,
      ...errands.all,
    ],
    onOrder: (given: ToRunner) => {
      if (given.type === "stop") stop(given.reason, given.force);
      else if (given.type === "answer") approvals.answer(given);
      else errands.answer(given);
    },
  });
  // A runner that nobody can speak to still does its work.
  const opened = socket
    .open()
    .catch((error) => log.add("nobody can connect to this runner", error));

  const runtime = RuntimeFactory.create(order.agent, { stateDir, environment });
  const executor = new JobExecutor(runtime, { stateDir, environment, spare });
  try {
    const watch: RunWatch = {
      onPermission: approvals.ask,
      onQuestion: approvals.question,
      ownTools: (run) => chooseTools({ ...run, order, jobDir, stateDir, errand: errands.send }),
    };
    await executor.execute(order, watch, ending.signal);
  } finally {
    await opened;
    socket.close();
    process.off("SIGTERM", onTerminate);
    failPoint("runner done");
  }
}

/** Its end is then seen, and told, as any other. */
async function killContainersOf(
  jobId: string,
  stateDir: string,
  environment: RunnerAssignment["environment"],
): Promise<void> {
  const manager = await ContainerManager.connect(environment);
  await sweepContainers(manager, stateDir, async (id) => id === jobId);
}

/** The run is ended, and what it came to is recorded with the bug as its outcome. */
async function tellOfBreakdown(run: LoggedRun, log: RunnerLog, error: unknown): Promise<void> {
  const { jobId, jobDir, sessionId, file } = run;
  await sweepRun(runTokenOf({ jobId, attempt: file.attempt }));
  if (await readReport(jobDir, file.attempt)) return;
  const said = log.redacted(error instanceof Error ? error.message : String(error));
  const refused = {
    code: "runtime_crashed" as const,
    message: `The runner broke down: ${said}`,
    hint: "This is a bug of herdctl; runner.log of the job tells more.",
  };
  const report = await reportOfLog(run, refused).catch((worse) => {
    log.add("what the run left cannot be read", worse);
    return bareReport({ jobId, attempt: file.attempt, sessionId }, { refused });
  });
  await writeOutcome(jobDir, report);
}
