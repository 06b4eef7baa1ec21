import type { Spending } from "../gateway/metering/spending.ts";
import { classify } from "./classify.ts";
import type { Evidence } from "./evidence.ts";
import type { HandedIn } from "./handed-in.ts";
import type { RunOrder } from "./run-order.ts";
import type { RunReport } from "./run-report.ts";
import { recordedCost, type SessionTotals, spentSince } from "./usage.ts";

export interface ReportFacts {
  order: Pick<RunOrder, "jobId" | "attempt"> & {
    session: { sessionId: string };
    claude: { version: string | null };
  };
  evidence: Evidence;
  startedAt: Date;
  finishedAt: Date;
  totalsBefore: SessionTotals | undefined;
  metered: Spending | undefined;
  credential: RunReport["credential"];
  metadata: Record<string, unknown> | undefined;
  handedIn: HandedIn;
  git?: RunReport["git"];
  warnings: string[];
}

const longestSummary = 4_000;

/** What is to be recorded of a run, from all that was seen of it. */
export function makeReport(facts: ReportFacts): RunReport {
  const { order, evidence, metered } = facts;
  const { result, init } = evidence;
  const totals: SessionTotals | null =
    result?.costUsd === undefined ? null : { costUsd: result.costUsd, models: result.modelUsage };
  const spent = totals ? spentSince(facts.totalsBefore, totals) : undefined;
  return {
    version: 1,
    job_id: order.jobId,
    attempt: order.attempt,
    started_at: facts.startedAt.toISOString(),
    finished_at: facts.finishedAt.toISOString(),
    outcome: classify(evidence),
    session_id: init?.sessionId ?? order.session.sessionId,
    session_opened: init !== undefined,
    summary: summaryOf(evidence),
    turns: result?.turns ?? 0,
    ...recordedCost(spent, metered),
    session_totals: totals,
    credential: facts.credential,
    container_id: evidence.container?.id ?? null,
    container_image: evidence.container?.image ?? null,
    claude_version: init?.version ?? order.claude.version,
    metadata: facts.metadata ?? null,
    ...facts.handedIn,
    git: facts.git ?? null,
    warnings: facts.warnings,
    crashed: false,
  };
}

/** The agent's own last words; an error result repeats the error there, which the outcome says. */
function summaryOf({ result, lastText }: Evidence): string | null {
  const text = (result?.subtype === "success" && !result.isError ? result.text : "") || lastText;
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return trimmed.length > longestSummary ? `${trimmed.slice(0, longestSummary - 1)}…` : trimmed;
}
