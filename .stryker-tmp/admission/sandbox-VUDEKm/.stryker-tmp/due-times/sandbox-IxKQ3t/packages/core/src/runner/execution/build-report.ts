import type { RunOrder } from "../contract/run-order.ts";
import type { RunReport } from "../contract/run-report.ts";
import type { Spending } from "../gateway/metering/spending.ts";
import { classifyOutcome } from "./classify-outcome.ts";
import type { JobDeliverables } from "./deliverables.ts";
import type { Evidence } from "./evidence.ts";
import { combineCost, costSince, type SessionTotals } from "./run-cost.ts";

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
  deliverables: JobDeliverables;
  git?: RunReport["git"];
  warnings: string[];
}

const maxSummaryLength = 4_000;

/** Builds the report to record for a run. */
export function buildReport(facts: ReportFacts): RunReport {
  const { order, evidence, metered } = facts;
  const { result, init } = evidence;
  const totals: SessionTotals | null =
    result?.costUsd === undefined ? null : { costUsd: result.costUsd, models: result.modelUsage };
  const spent = totals ? costSince(facts.totalsBefore, totals) : undefined;
  return {
    version: 1,
    job_id: order.jobId,
    attempt: order.attempt,
    started_at: facts.startedAt.toISOString(),
    finished_at: facts.finishedAt.toISOString(),
    outcome: classifyOutcome(evidence),
    session_id: init?.sessionId ?? order.session.sessionId,
    session_opened: init !== undefined,
    summary: buildSummary(evidence),
    turns: result?.turns ?? 0,
    ...combineCost(spent, metered),
    session_totals: totals,
    credential: facts.credential,
    container_id: evidence.container?.id ?? null,
    container_image: evidence.container?.image ?? null,
    claude_version: init?.version ?? order.claude.version,
    metadata: facts.metadata ?? null,
    ...facts.deliverables,
    git: facts.git ?? null,
    warnings: [...facts.warnings, ...(metered?.unknownModels ?? []).map(unknownPriceWarning)],
    crashed: false,
  };
}

function unknownPriceWarning(model: string): string {
  return `unknown price of model ${model}: counted at the highest known price; set it under \`prices\` in herdctl.yaml`;
}

/** The agent's final text. Not that of an error result: it repeats the error, which is in the outcome. */
function buildSummary({ result, lastText }: Evidence): string | null {
  const text = (result?.subtype === "success" && !result.isError ? result.text : "") || lastText;
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return trimmed.length > maxSummaryLength ? `${trimmed.slice(0, maxSummaryLength - 1)}…` : trimmed;
}
