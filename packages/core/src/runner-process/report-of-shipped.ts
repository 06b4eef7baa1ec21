import { type Evidence, noEvidence } from "../runner/evidence.ts";
import { refusalWarnings } from "../runner/handed-in.ts";
import { makeReport } from "../runner/make-report.ts";
import { type RunReport, runReportSchema } from "../runner/run-report.ts";
import type { Attempt, Job } from "../state/job.ts";
import { LogFold } from "./evidence-of-log.ts";

export interface ShippedRun {
  job: Pick<Job, "id" | "session_id" | "claude_version" | "credential">;
  attempt: Pick<Attempt, "number" | "started_at">;
  /** What there is of the job's log, of all its attempts. */
  log: string;
  /** It had to hand in a report. */
  demandsReport: boolean;
}

/**
 * The report of a run on a node that is lost, from what had come over of its log. A result in it is
 * a finished turn. What was kept on that node only, a report or files, cannot be had: a run that
 * owed a report counts as broken off, so that it is tried again.
 */
export function reportOfShipped(shipped: ShippedRun, now: Date): RunReport {
  const { job, attempt } = shipped;
  const evidence = evidenceOf(shipped);
  const report = makeReport({
    order: {
      jobId: job.id,
      attempt: attempt.number,
      session: { sessionId: job.session_id ?? "" },
      claude: { version: job.claude_version },
    },
    evidence,
    startedAt: new Date(attempt.started_at),
    finishedAt: now,
    totalsBefore: undefined,
    metered: undefined,
    credential: job.credential,
    metadata: undefined,
    handedIn: { report: null, artifacts: [] },
    warnings: refusalWarnings(evidence),
  });
  return runReportSchema.parse({ ...report, crashed: true });
}

function evidenceOf({ attempt, log, demandsReport }: ShippedRun): Evidence {
  const fold = new LogFold("result");
  const since = Date.parse(attempt.started_at);
  for (const line of log.split("\n")) {
    const message = parseLine(line);
    if (message && timeOf(message) >= since) fold.add(message);
  }
  const { evidence, hadLastWord } = fold.seen;
  const isDone = hadLastWord && !demandsReport;
  if (!evidence.init && !isDone) return { ...noEvidence(), stopped: "interrupted" };
  return isDone ? evidence : { ...evidence, stopped: "interrupted" };
}

/** Attempts of a job share its log; each message in it has the time at which it came. */
function timeOf({ herdctl_at, timestamp }: Record<string, unknown>): number {
  const time = herdctl_at ?? timestamp;
  return typeof time === "string" ? Date.parse(time) : Number.NaN;
}

/** The last line may be cut off. */
function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
