import type { Attempt, Job } from "@herdctl/protocol";
import { z } from "zod";
import { type RunReport, runReportSchema } from "../contract/run-report.ts";
import type { PriceOverrides } from "../contract/spend-limit.ts";
import { buildReport, refusalWarnings } from "../execution/build-report.ts";
import { type Evidence, emptyEvidence } from "../execution/evidence.ts";
import {
  addPricedUsage,
  type ModelUsage,
  noSpending,
  parseUsage,
  priceUsage,
  type Spending,
} from "../gateway/metering/call-usage.ts";
import { LogEvidenceCollector } from "./complete-log.ts";

export interface LostRun {
  job: Pick<Job, "id" | "session_id" | "claude_version" | "credential"> &
    Partial<Pick<Job, "provider">>;
  attempt: Pick<Attempt, "number" | "started_at">;
  /** The replicated part of the job's log, for all attempts. */
  log: string;
  /** The run had to submit a report. */
  demandsReport: boolean;
  prices: PriceOverrides;
}

/**
 * Builds the report of a run on a lost node from the replicated part of its log. A result in the log
 * is a finished turn. The report and files of the agent are lost with the node, so a run that needed
 * a report counts as interrupted and is retried. The metered spending is lost as well, so the cost is
 * computed from the messages in the log.
 */
export function reportFromReplicatedLog(lostRun: LostRun, now: Date): RunReport {
  const { job, attempt } = lostRun;
  const messages = messagesOf(lostRun);
  const evidence = evidenceOf(messages, lostRun.demandsReport);
  const report = buildReport({
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
    // defence: cost-on-lost-node
    metered: spendingOf(messages, lostRun.prices),
    credential: job.credential,
    provider: job.provider,
    metadata: undefined,
    deliverables: { report: null, artifacts: [] },
    warnings: refusalWarnings(evidence),
  });
  return runReportSchema.parse({ ...report, crashed: true });
}

type LogRecord = Record<string, unknown>;

function messagesOf({ attempt, log }: LostRun): LogRecord[] {
  const since = Date.parse(attempt.started_at);
  const messages = log.split("\n").map(parseLine);
  return messages.filter(
    (message): message is LogRecord => message !== undefined && timeOf(message) >= since,
  );
}

function evidenceOf(messages: readonly LogRecord[], demandsReport: boolean): Evidence {
  const collector = new LogEvidenceCollector("result");
  for (const message of messages) collector.add(message);
  const { evidence, hasFinalMessage } = collector.result;
  const isDone = hasFinalMessage && !demandsReport;
  if (!evidence.init && !isDone) return { ...emptyEvidence(), stopped: "interrupted" };
  return isDone ? evidence : { ...evidence, stopped: "interrupted" };
}

const assistantCallSchema = z.object({
  message: z.object({ id: z.string(), model: z.string(), usage: z.unknown() }),
});

/** A lower bound: a message is logged before all output tokens of its call are known. */
function spendingOf(messages: readonly LogRecord[], prices: PriceOverrides): Spending {
  const calls = new Map<string, ModelUsage[]>();
  for (const logged of messages) {
    const call =
      logged.type === "assistant" ? assistantCallSchema.safeParse(logged).data : undefined;
    if (call) calls.set(call.message.id, parseUsage(call.message.model, call.message.usage));
  }
  return addPricedUsage(noSpending, priceUsage([...calls.values()].flat(), prices));
}

/** Every logged message has a timestamp; it separates the attempts of a job. */
function timeOf({ herdctl_at, timestamp }: LogRecord): number {
  const time = herdctl_at ?? timestamp;
  return typeof time === "string" ? Date.parse(time) : Number.NaN;
}

/** Undefined for an incomplete last line. */
function parseLine(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
