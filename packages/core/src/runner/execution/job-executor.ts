import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@herdctl/config";
import { isOlder } from "../../claude/binary.ts";
import { servedBy } from "../../claude/credential.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { type CollectedGit, collectGit } from "../../private-git/private-git-lifecycle.ts";
import { writeOutcome } from "../../store/files/job-folder.ts";
import { type OutputWriter, openOutput } from "../../store/files/output-log.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { privateGitFolder } from "../contract/paths.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { RunReport } from "../contract/run-report.ts";
import { spendLogPath } from "../gateway/metering/spend-log.ts";
import { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { RefusedRequest } from "../gateway/traffic-meter.ts";
import type { RuntimeInterface } from "../runtimes/runtime-interface.ts";
import {
  buildReport,
  checkReport,
  readDeliverables,
  readMetadataFile,
  readTotalsBefore,
  refusalWarnings,
  type SessionTotals,
} from "./build-report.ts";
import { type Evidence, emptyEvidence } from "./evidence.ts";
import { type OpenRun, openRun } from "./open-run.ts";
import { knownSecrets, Redactor } from "./redactor.ts";
import { type RunHandlers, RunningAttempt } from "./running-attempt.ts";
import { unknownModelWarnings } from "./silent-changes.ts";
import { listClosedPaths } from "./workspace-file.ts";

export interface JobExecutorOptions {
  stateDir: string;
  environment: Environment;
  /** A run with an idle `claude` for this order. */
  idleRun?: { run: OpenRun; totals: SessionTotals | undefined };
  /** A folder for a run that outlives its job (default: the job's folder). */
  runFolder?: string;
  /** True if the run is kept for the next turn; otherwise it is closed. */
  keepRun?(run: OpenRun, report: RunReport): Promise<boolean>;
}

/**
 * Runs one attempt: session, runtime, messages, evidence, outcome. It only writes to the job's folder
 * and depends on no other process, so that it can outlive the fleet process.
 */
export class JobExecutor {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly options: JobExecutorOptions,
  ) {}

  async execute(order: RunOrder, watch: RunHandlers, signal: AbortSignal): Promise<RunReport> {
    const jobDir = this.jobDir(order);
    const startedAt = new Date();
    const { environment, idleRun } = this.options;
    const redactor = new Redactor(knownSecrets(order.agent, environment));
    const spentBefore = idleRun ? idleRun.totals : await readTotalsBefore(order);
    const meter = new SpendMeter({
      logPath: spendLogPath(jobDir, order.attempt),
      limits: order.spend?.limits,
      prices: order.spend?.prices,
    });
    const preparedRun = await this.prepareRun(order, jobDir, meter);
    const run = preparedRun.kind === "open" ? preparedRun.run : undefined;
    let output: OutputWriter | undefined;
    try {
      output = await openOutput(jobDir, order.agent.max_log_size);
      watch.onMeter?.(meter);
      const observed = await (preparedRun.kind === "open"
        ? this.followAttempt(
            new RunningAttempt(order, preparedRun.run, jobDir, watch, redactor),
            output,
            signal,
          )
        : { ...emptyEvidence(), refused: preparedRun.refused });
      const [deliverables] = await Promise.all([readDeliverables(jobDir), output.close()]);
      const evidence = checkReport(observed, order.outputSchema !== undefined, deliverables);

      const { metadata, warnings } = await this.collectMetadata(order, evidence, startedAt);
      if (output.dropped > 0) warnings.push(logFullWarning(output.dropped));
      const { git, warnings: gitWarnings } = await collectCommits(run, order);
      warnings.push(...gitWarnings);
      warnings.push(
        ...refusalWarnings(evidence),
        ...(run?.refusedRequests() ?? []).map(formatRefusedRequest),
      );
      if (this.isFirstWithLogin(run)) warnings.push(loginWarning);
      run?.endTurn();
      const draftReport = buildReport({
        order,
        evidence,
        startedAt,
        finishedAt: new Date(),
        totalsBefore: spentBefore,
        metered: meter.spending,
        credential: run?.credential.kind ?? null,
        provider: servedBy(run?.credential),
        metadata,
        deliverables,
        git,
        warnings,
      });
      const report = redactor.redact(draftReport);
      failPoint("outcome made");
      await writeOutcome(jobDir, report);
      if (run) await this.closeUnlessKept(run, report);
      failPoint("outcome stored");
      return report;
    } catch (error) {
      await closeAfterError(run, output);
      throw error;
    }
  }

  /** Once per state directory: the operator should know, but not with every job. */
  private isFirstWithLogin(run: OpenRun | undefined): boolean {
    if (run?.credential.kind !== "subscription" || !run.credential.byDefault) return false;
    try {
      writeFileSync(join(this.options.stateDir, "login-in-containers"), "", { flag: "wx" });
      return true;
    } catch {
      return false;
    }
  }

  private jobDir({ jobId }: RunOrder): string {
    return join(this.options.stateDir, "jobs", jobId);
  }

  private async prepareRun(order: RunOrder, jobDir: string, meter: SpendMeter) {
    const { environment, idleRun, runFolder } = this.options;
    const gitDir =
      order.place === "docker"
        ? privateGitFolder(this.options.stateDir, runTokenOf(order))
        : undefined;
    const place = { folder: runFolder, gitDir, meter };
    if (!idleRun) return openRun(order, environment, jobDir, place);
    idleRun.run.startNextTurn(meter);
    return { kind: "open" as const, run: idleRun.run };
  }

  private async closeUnlessKept(run: OpenRun, report: RunReport): Promise<void> {
    if (!(await this.options.keepRun?.(run, report))) await run.close();
  }

  private async followAttempt(
    attempt: RunningAttempt,
    output: OutputWriter,
    signal: AbortSignal,
  ): Promise<Evidence> {
    const cancel = () =>
      attempt.stop(signal.reason === "interrupted" ? "interrupted" : "cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await attempt.follow(this.runtime, output);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  private async collectMetadata(order: RunOrder, evidence: Evidence, since: Date) {
    const { metadata_file, permission_mode } = order.agent;
    const hidesDenials =
      evidence.init?.isSynthesised &&
      permission_mode !== "bypassPermissions" &&
      isOlder(order.claude.version ?? "0", denialsInSessionFileSince);
    const warnings = [
      ...evidence.warnings,
      ...unknownModelWarnings(evidence.stderr),
      ...(hidesDenials ? [hiddenDenialsWarning] : []),
    ];
    if (wasOomKilled(evidence)) warnings.push(outOfMemoryWarning);
    if (metadata_file === undefined) return { metadata: undefined, warnings };
    const closedPaths = listClosedPaths(order, this.options.stateDir);
    const from = { place: order.place, cwd: order.cwd, closedPaths };
    const read = await readMetadataFile(from, metadata_file, since);
    if (read.kind === "wrong") warnings.push(read.warning);
    return { metadata: read.kind === "found" ? read.metadata : undefined, warnings };
  }
}

/** Leaves no process, socket or open file behind, whatever else fails. */
async function closeAfterError(run: OpenRun | undefined, output: OutputWriter | undefined) {
  run?.endTurn();
  await Promise.allSettled([output?.close(), run?.processTracker.kill().then(() => run.close())]);
}

/** Called before the report is built, because commits are part of it. */
async function collectCommits(
  run: OpenRun | undefined,
  { jobId }: RunOrder,
): Promise<CollectedGit> {
  // defence: commits-after-each-turn
  return run?.gitDir ? await collectGit(run.gitDir, jobId) : { git: null, warnings: [] };
}

function wasOomKilled({ container, result }: Evidence): boolean {
  return container?.end?.kind === "exited" && container.end.oomKilled && result !== undefined;
}

/** A request that the gateway or the egress proxy refused, and the setting that allows it. */
function formatRefusedRequest({ target, reason, remedy, count }: RefusedRequest): string {
  const times = count > 1 ? ` (${count} times)` : "";
  return `refused: ${target}${times}: ${reason}${remedy ? `; to allow it: ${remedy}` : ""}`;
}

function logFullWarning(dropped: number): string {
  return `the job's log reached \`max_log_size\`: ${dropped} messages were dropped`;
}

const loginWarning =
  "the container used the login of this machine, because there is no API key; `herdctl doctor` explains the risk";
const outOfMemoryWarning =
  "a process in the container was killed because memory ran out; raise `docker.memory` if necessary";
/** The first version known to record them; 2.1.197 does not. */
const denialsInSessionFileSince = "2.1.325";
const hiddenDenialsWarning =
  "older versions of Claude Code do not record denied tools in the session file";
