import { appendFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listSecretValues } from "@herdctl/config";
import { servedBy } from "../../claude/credential.ts";
import { ContainerManager } from "../../docker/container-manager.ts";
import { removeContainersOf } from "../../docker/remove-containers.ts";
import { currentProcess } from "../../lib/process-identity.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { killRunProcesses } from "../../process-tree/kill-processes.ts";
import { writeOutcome } from "../../store/files/job-folder.ts";
import {
  isLeaseValid,
  type RunnerLease,
  readLease,
  uptimeMs,
} from "../../store/files/lease-file.ts";
import { outputFileName } from "../../store/files/output-log.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { chooseTools, createToolTable, type ToolTable } from "../agent-tools/choose-tools.ts";
import type {
  RunFacts,
  RunnerAssignment,
  RunnerClaim,
  RunnerCommand,
  SpendingMessage,
} from "../contract/messages.ts";
import { claimAttempt, makeKeepAliveFolder, runnerSocketPath } from "../contract/paths.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { SpendLimit } from "../contract/spend-limit.ts";
import { JobExecutor } from "../execution/job-executor.ts";
import { credentialOf } from "../execution/open-run.ts";
import { knownSecrets, Redactor } from "../execution/redactor.ts";
import type { RunHandlers } from "../execution/running-attempt.ts";
import { listClosedPaths } from "../execution/workspace-file.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import {
  computeProcessFingerprint,
  endIdleRun,
  type IdleRun,
  type KeepAliveRun,
  KeepAliveSlot,
} from "../keep-alive/keep-alive-run.ts";
import { readReport } from "../recovery/collect-report.ts";
import {
  type LoggedRun,
  minimalReport,
  readMeteredSpending,
  reportFromLog,
} from "../recovery/report-from-log.ts";
import { RuntimeFactory } from "../runtimes/runtime-factory.ts";
import { PendingApprovalRequests, PendingToolCalls, RunnerSocket } from "./runner-socket.ts";

/** Runs one attempt from claim to outcome, unless another process has claimed it. */
export async function runAttempt(
  assignment: RunnerAssignment,
  keepAliveSlot: KeepAliveSlot = new KeepAliveSlot(),
): Promise<void> {
  const { stateDir, order, environment } = assignment;
  const jobDir = join(stateDir, "jobs", order.jobId);
  const idleRun = keepAliveSlot.isIdle ? await keepAliveSlot.take(order, environment) : undefined;
  const claimed = claimRun(assignment, idleRun);
  if (!claimed) return idleRun && endIdleRun(idleRun);
  failPoint("runner began");
  const { file, run } = claimed;

  const log = new RunnerLog(jobDir, assignment);
  const { crashed, stopWatching } = watchForCrash();
  try {
    await Promise.race([
      executeAttempt(assignment, { jobDir, log, keepAliveSlot, idleRun }),
      crashed,
    ]);
  } catch (error) {
    log.add("the runner crashed", error);
    const { jobId } = order;
    const { sessionId } = order.session;
    const redactor = new Redactor(knownSecrets(order.agent, environment));
    await reportCrash({ jobId, jobDir, sessionId, file, facts: run, redactor }, log, error);
  } finally {
    stopWatching();
  }
}

/** `crashed` rejects with the first uncaught error. */
function watchForCrash(): { crashed: Promise<never>; stopWatching: () => void } {
  const events = ["uncaughtException", "unhandledRejection"];
  let fail: (error: unknown) => void = () => undefined;
  const crashed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  for (const event of events) process.on(event, fail);
  const stopWatching = () => {
    for (const event of events) process.off(event, fail);
  };
  return { crashed, stopWatching };
}

interface AttemptContext {
  jobDir: string;
  log: RunnerLog;
  keepAliveSlot: KeepAliveSlot;
  idleRun: IdleRun | undefined;
}

async function executeAttempt(
  assignment: RunnerAssignment,
  context: AttemptContext,
): Promise<void> {
  const { stateDir, order } = assignment;
  const { jobDir, log, idleRun } = context;
  const abortController = new AbortController();
  const stop = (reason: "cancelled" | "interrupted", force: boolean) => {
    abortController.abort(reason);
    if (!force) return;
    const runToken = idleRun?.runToken ?? runTokenOf(order);
    void killRunProcesses(runToken);
    if (order.place === "docker") void killContainers(assignment, runToken);
  };
  const lease = new LeaseWatch(assignment.lease);
  void lease.ended.then(() => stop("interrupted", true));
  const onTerminate = () => stop("interrupted", abortController.signal.aborted);
  process.on("SIGTERM", onTerminate);

  const approvals = new PendingApprovalRequests({
    onAsked: (asked) => socket.broadcast(asked),
    onWithdrawn: (withdrawn) => socket.broadcast(withdrawn),
  });
  const toolCalls = new PendingToolCalls((line) => socket.broadcast(line));
  const budget = new RunBudget(order, (spent) => socket.broadcast(spent));
  const socket = new RunnerSocket(runnerSocketPath(jobDir), {
    initialMessages: () => [
      { type: "hello", job_id: order.jobId, attempt: order.attempt },
      ...approvals.all,
      ...toolCalls.all,
      budget.spendingMessage,
    ],
    onCommand: (command: RunnerCommand) => {
      if (command.type === "stop") stop(command.reason, command.force);
      else if (command.type === "spend_limits") budget.setSharedLimits(command.limits);
      else if (command.type === "answer") approvals.answer(command);
      else toolCalls.answer(command);
    },
  });
  // A runner without a socket still does its work.
  await socket
    .open()
    .catch((error) => log.add("cannot listen for connections of the fleet", error));

  try {
    const { executor, toolTable } = await prepareExecutor(assignment, context);
    const watch: RunHandlers = {
      onPermission: approvals.askPermission,
      onQuestion: approvals.question,
      onMeter: budget.attach,
      createTools: (run) =>
        chooseTools({ ...run, order, jobDir, stateDir, sendToolCall: toolCalls.send }, toolTable),
    };
    await executor.execute(order, watch, abortController.signal);
  } finally {
    socket.close();
    lease.stop();
    process.off("SIGTERM", onTerminate);
    failPoint("runner done");
  }
}

/** An executor that uses the idle `claude` or starts a new one. */
async function prepareExecutor(
  assignment: RunnerAssignment,
  { keepAliveSlot, idleRun }: AttemptContext,
): Promise<{ executor: JobExecutor; toolTable: ToolTable }> {
  const { stateDir, order, environment } = assignment;
  const options = { stateDir, environment };
  if (!idleRun && !keepAliveSlot.isEmpty) await keepAliveSlot.end();
  if (!idleRun && !order.keepAlive) {
    const runtime = RuntimeFactory.create(order.agent, options);
    return { executor: new JobExecutor(runtime, options), toolTable: createToolTable() };
  }
  const keepAliveRun = idleRun ?? createKeepAliveRun(assignment);
  const executor = new JobExecutor(keepAliveRun.runtime, {
    ...options,
    idleRun,
    runFolder: idleRun ? undefined : makeKeepAliveFolder(stateDir, keepAliveRun.runToken),
    keepRun: (run, report) => keepAliveSlot.keep(order, keepAliveRun, run, report),
  });
  return { executor, toolTable: keepAliveRun.toolTable };
}

function createKeepAliveRun({ stateDir, order, environment }: RunnerAssignment): KeepAliveRun {
  return {
    runToken: runTokenOf(order),
    // Computed before the start, so that later changes to its startup files are detected.
    fingerprint: computeProcessFingerprint(order, environment),
    runtime: RuntimeFactory.createKeepAlive(order.agent, { stateDir, environment }),
    toolTable: createToolTable(),
  };
}

/** The attempt then observes the end of the container and reports it as usual. */
async function killContainers(
  { stateDir, order, environment }: RunnerAssignment,
  runToken: string,
): Promise<void> {
  const manager = await ContainerManager.connect(environment);
  await removeContainersOf(manager, stateDir, order.jobId, [runToken]);
}

/** Kills the run and writes a report with the crash as its outcome. */
async function reportCrash(run: LoggedRun, log: RunnerLog, error: unknown): Promise<void> {
  const { jobId, jobDir, sessionId, file } = run;
  await killRunProcesses(runTokenOf({ jobId, attempt: file.attempt }));
  if (run.facts.live) await killRunProcesses(run.facts.live.run_token);
  if (await readReport(jobDir, file.attempt)) return;
  const crashMessage = log.redacted(error instanceof Error ? error.message : String(error));
  const refused = {
    code: "runtime_crashed" as const,
    message: `The runner crashed: ${crashMessage}`,
    hint: "This is a bug in herdctl. For details, see runner.log in the job's folder.",
  };
  const report = await reportFromLog(run, refused).catch(async (readError) => {
    log.add("cannot read the files of the run", readError);
    const metered = await readMeteredSpending(jobDir, file.attempt);
    return minimalReport({ jobId, attempt: file.attempt, sessionId }, { refused }, metered);
  });
  await writeOutcome(jobDir, report);
}

/** Reports the spending of a run to the fleet, and passes spending limits to the gateway. */
class RunBudget {
  private readonly ownLimits: readonly SpendLimit[];
  private sharedLimits: readonly SpendLimit[] | undefined;
  private meter: SpendMeter | undefined;

  constructor(
    private readonly order: Pick<RunOrder, "attempt" | "spend">,
    private readonly sendSpending: (spent: SpendingMessage) => void,
  ) {
    this.ownLimits = order.spend?.limits.filter(({ scope }) => scope === "run") ?? [];
  }

  get spendingMessage(): SpendingMessage {
    const { usd, tokens } = this.meter?.spent ?? { usd: 0, tokens: 0 };
    return { type: "spending", attempt: this.order.attempt, usd, tokens };
  }

  readonly attach = (meter: SpendMeter): void => {
    this.meter = meter;
    meter.onChange = () => this.sendSpending(this.spendingMessage);
    if (this.sharedLimits) this.setSharedLimits(this.sharedLimits);
  };

  /** May be called before the run is open. */
  setSharedLimits(limits: readonly SpendLimit[]): void {
    this.sharedLimits = limits;
    this.meter?.setLimits([...limits, ...this.ownLimits]);
  }
}

/** `runner.log`: errors of the runner itself, which has no terminal. */
class RunnerLog {
  private readonly file: string;

  constructor(
    jobDir: string,
    private readonly assignment: RunnerAssignment,
  ) {
    this.file = join(jobDir, "runner.log");
  }

  add(message: string, cause: unknown): void {
    const detail = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    const line = `${new Date().toISOString()} ${message}: ${this.redacted(detail)}\n`;
    try {
      appendFileSync(this.file, line, { mode: 0o600 });
    } catch {
      // A log that cannot be written must not stop the run.
    }
  }

  redacted(text: string): string {
    const { environment, order } = this.assignment;
    const secrets = listSecretValues({ ...environment, ...order.agent.env });
    return secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
  }
}

/** Claims an attempt for this process in a claim file; undefined if another process has claimed it. */
export function claimRun(
  assignment: RunnerAssignment,
  idleRun?: Pick<IdleRun, "runToken" | "totals">,
): { file: RunnerClaim; run: RunFacts } | undefined {
  const jobDir = join(assignment.stateDir, "jobs", assignment.order.jobId);
  const live = idleRun ? { run_token: idleRun.runToken, totals: idleRun.totals ?? null } : null;
  const run = { ...runFactsOf(assignment, jobDir), live };
  const file = runnerClaimOf(assignment, run);
  return claimAttempt(jobDir, file) ? { file, run } : undefined;
}

function runnerClaimOf({ order, isStandalone }: RunnerAssignment, run: RunFacts): RunnerClaim {
  return {
    version: 1,
    attempt: order.attempt,
    runner: currentProcess(),
    void: false,
    session_id: order.session.sessionId,
    started_at: new Date().toISOString(),
    ...(isStandalone && { standalone: true }),
    run,
  };
}

function runFactsOf(
  { order, environment, stateDir }: RunnerAssignment,
  jobDir: string,
): Omit<RunFacts, "live"> {
  const { session, agent, place, cwd, configDir, claude } = order;
  const credential = credentialOf(order, environment);
  return {
    forked_from: session.kind === "fork" ? session.from : null,
    place,
    cwd,
    config_dir: configDir,
    claude_version: claude.version,
    credential: credential.kind === "none" ? null : credential.kind,
    provider: servedBy(credential),
    metadata_file: agent.metadata_file ?? null,
    closed_paths: listClosedPaths(order, stateDir),
    demands_report: order.outputSchema !== undefined,
    output_from: statSync(join(jobDir, outputFileName), { throwIfNoEntry: false })?.size ?? 0,
  };
}

const pollIntervalMs = 500;

/**
 * Watches the node's lease file when the store is shared. After the lease expires, another node may
 * take over the job, so the runner must have stopped by then. It only reads the file, because its node
 * may be cut off, paused or dead.
 */
export class LeaseWatch {
  private readonly timer: NodeJS.Timeout | undefined;
  private resolveEnded: () => void = () => undefined;
  /** Resolves when the lease expires; never resolves without a lease. */
  readonly ended = new Promise<void>((resolve) => {
    this.resolveEnded = resolve;
  });

  constructor(lease: RunnerLease | undefined) {
    if (!lease) return;
    this.timer = setInterval(() => this.check(lease), pollIntervalMs);
    this.check(lease);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private check({ file, term }: RunnerLease): void {
    if (isLeaseValid(term, readLease(file), uptimeMs())) return;
    this.stop();
    this.resolveEnded();
  }
}
