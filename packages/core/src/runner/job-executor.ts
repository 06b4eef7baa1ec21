import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { failPoint } from "../faults/fail-point.ts";
import { spendLogPath } from "../gateway/metering/spend-log.ts";
import { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { RefusedAccess } from "../gateway/refused-access.ts";
import { placeOutcome, syncOutcome } from "../state/outcome-file.ts";
import { type OutputWriter, openOutput } from "../state/output-writer.ts";
import type { SpareContainer } from "./container/spare.ts";
import { type Evidence, noEvidence } from "./evidence.ts";
import { type Collected, collectGit, gitFolderOf } from "./git/private-session.ts";
import { handedIn, refusalWarnings, withReport } from "./handed-in.ts";
import { knownSecrets } from "./known-secrets.ts";
import { makeReport } from "./make-report.ts";
import { readMetadataFile } from "./metadata-file.ts";
import { type OpenedRun, type OpenRun, openRun } from "./open-run.ts";
import { Redactor } from "./redactor.ts";
import { type RunOrder, runTokenOf } from "./run-order.ts";
import type { RunReport } from "./run-report.ts";
import { RunningAttempt, type RunWatch } from "./running-attempt.ts";
import type { RuntimeInterface } from "./runtime/interface.ts";
import type { SpawnClaude } from "./runtime/spawn.ts";
import { totalsBefore } from "./session-totals.ts";
import type { SessionTotals } from "./usage.ts";
import { closedPaths } from "./workspace-file.ts";

/** What surrounds an attempt before anything of it has begun. */
export interface OpenedAttempt {
  surrounds: OpenedRun;
  meter: SpendMeter;
  output: OutputWriter;
  spentBefore: SessionTotals | undefined;
}

export interface ExecutorOptions {
  stateDir: string;
  environment: Environment;
  /** A container that waits for the agent of the order. */
  spare?: SpareContainer;
  /** A run whose `claude` is up and waits for just this order. */
  waiting?: { run: OpenRun; totals: SessionTotals | undefined };
  /** A folder for the run that outlasts its job; the job's own by default. */
  runFolder?: string;
  /** How a program is started on this machine, where there is a quicker way than the usual one. */
  spawn?: SpawnClaude;
  /** True when the run stays up for the next turn; else it is closed. */
  keep?(run: OpenRun, report: RunReport): Promise<boolean>;
}

/**
 * Carries out one attempt: session, runtime, messages, evidence, outcome. It writes to the job's
 * own folder only and needs nobody else, so that it can outlive whoever gave the order.
 */
export class JobExecutor {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly options: ExecutorOptions,
  ) {}

  /** May be done ahead, by whoever closes it if the attempt does not come. */
  async open(order: RunOrder): Promise<OpenedAttempt> {
    const jobDir = this.jobDir(order);
    const { waiting } = this.options;
    const spentBefore = waiting ? waiting.totals : await totalsBefore(order);
    const meter = new SpendMeter({
      logPath: spendLogPath(jobDir, order.attempt),
      limits: order.spend?.limits,
      prices: order.spend?.prices,
    });
    const [surrounds, output] = await Promise.all([
      this.surround(order, jobDir, meter),
      openOutput(jobDir, order.agent.max_log_size),
    ]);
    return { surrounds, output, spentBefore, meter };
  }

  async execute(
    order: RunOrder,
    watch: RunWatch,
    signal: AbortSignal,
    opened: Promise<OpenedAttempt> = this.open(order),
  ): Promise<RunReport> {
    const jobDir = this.jobDir(order);
    const startedAt = new Date();
    const redactor = new Redactor(knownSecrets(order.agent, this.options.environment));
    const { surrounds, output, spentBefore, meter } = await opened;
    watch.onMeter?.(meter);
    const run = surrounds.kind === "open" ? surrounds.run : undefined;
    const seen = await (surrounds.kind === "open"
      ? this.follow(
          new RunningAttempt(order, surrounds.run, jobDir, watch, redactor),
          output,
          signal,
        )
      : { ...noEvidence(), refused: surrounds.refused });
    const [given] = await Promise.all([handedIn(jobDir), output.close()]);
    const evidence = withReport(seen, order.outputSchema !== undefined, given);

    const { metadata, warnings } = await this.findings(order, evidence, startedAt);
    if (output.dropped > 0) warnings.push(logFull(output.dropped));
    const { git, warnings: aboutGit } = await collectRun(run, order);
    warnings.push(...aboutGit);
    warnings.push(...refusalWarnings(evidence), ...(run?.refused() ?? []).map(refusalText));
    run?.endTurn();
    warnings.push(...meter.unknownModels.map(noPriceWarning));
    const made = makeReport({
      order,
      evidence,
      startedAt,
      finishedAt: new Date(),
      totalsBefore: spentBefore,
      metered: meter.spending,
      credential: run?.credential.kind ?? null,
      metadata,
      handedIn: given,
      git,
      warnings,
    });
    const report = redactor.redact(made);
    failPoint("outcome made");
    placeOutcome(jobDir, report);
    if (run) await this.leave(run, report);
    failPoint("outcome stored");
    watch.onTold?.(report);
    // A power cut before the fleet has recorded it leaves the log, which tells the same.
    await Promise.all([syncOutcome(jobDir), run?.leash.looked()]);
    return report;
  }

  private jobDir({ jobId }: RunOrder): string {
    return join(this.options.stateDir, "jobs", jobId);
  }

  private async surround(order: RunOrder, jobDir: string, meter: SpendMeter): Promise<OpenedRun> {
    const { environment, spare, waiting, runFolder } = this.options;
    const gitDir =
      order.place === "docker" ? gitFolderOf(this.options.stateDir, runTokenOf(order)) : undefined;
    const place = { spare, folder: runFolder, gitDir, meter };
    if (!waiting) return openRun(order, environment, jobDir, place);
    waiting.run.nextTurn(meter);
    return { kind: "open", run: waiting.run };
  }

  private async leave(run: OpenRun, report: RunReport): Promise<void> {
    if (!(await this.options.keep?.(run, report))) await run.close();
  }

  private async follow(
    attempt: RunningAttempt,
    output: OutputWriter,
    signal: AbortSignal,
  ): Promise<Evidence> {
    const cancel = () =>
      attempt.stop(signal.reason === "interrupted" ? "interrupted" : "cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await attempt.follow(this.runtime, output, this.options.spawn);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  private async findings(order: RunOrder, evidence: Evidence, since: Date) {
    const { metadata_file, permission_mode } = order.agent;
    const isBlind = evidence.init?.synthesised && permission_mode !== "bypassPermissions";
    const warnings = [...evidence.warnings, ...(isBlind ? [blindness] : [])];
    if (wasShortOfMemory(evidence)) warnings.push(shortOfMemory);
    if (metadata_file === undefined) return { metadata: undefined, warnings };
    const closed = closedPaths(order, this.options.stateDir);
    const from = { place: order.place, cwd: order.cwd, closed };
    const read = await readMetadataFile(from, metadata_file, since);
    if (read.kind === "wrong") warnings.push(read.warning);
    return { metadata: read.kind === "found" ? read.metadata : undefined, warnings };
  }
}

/** Before the record is made: what the run has committed is a part of it. */
async function collectRun(run: OpenRun | undefined, { jobId }: RunOrder): Promise<Collected> {
  return run?.gitDir ? await collectGit(run.gitDir, jobId) : { git: null, warnings: [] };
}

function wasShortOfMemory({ container, result }: Evidence): boolean {
  return container?.end?.kind === "exited" && container.end.oomKilled && result !== undefined;
}

/** What the agent asked for in vain, and the line that would allow it. */
function refusalText({ what, reason, remedy, count }: RefusedAccess): string {
  const times = count > 1 ? ` (${count} times)` : "";
  return `refused: ${what}${times}: ${reason}${remedy ? `; to allow it: ${remedy}` : ""}`;
}

function logFull(dropped: number): string {
  return `the job's log reached \`max_log_size\`: ${dropped} messages are not in it`;
}

function noPriceWarning(model: string): string {
  return `the price of model ${model} is not known: it is counted at the highest known price; set it under \`prices\` in herdctl.yaml`;
}

const shortOfMemory =
  "a process in the container was killed for want of memory; raise `docker.memory` if it was needed";
const blindness = "older versions of Claude Code leave denied tools out of the session file";
