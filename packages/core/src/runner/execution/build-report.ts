import type { Artifact, Usage } from "@herdctl/protocol";
import { z } from "zod";
import { type SessionHome, sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { readTranscript } from "../../claude/session-files/transcript.ts";
import type { TokenUsage } from "../../claude/token-usage.ts";
import { listArtifacts, readReport } from "../../store/files/artifacts.ts";
import type { RunOrder } from "../contract/run-order.ts";
import { modelTotalsSchema, type RunReport } from "../contract/run-report.ts";
import { type Spending, totalTokens } from "../gateway/metering/call-usage.ts";
import { classifyOutcome } from "./classify-outcome.ts";
import type { Evidence, ModelUsageTotals } from "./evidence.ts";
import { openWorkspaceFile, type WorkspaceAccess } from "./workspace-file.ts";

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
  provider?: RunReport["provider"];
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
    provider: facts.provider ?? null,
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

/** Claude's totals over the whole session. */
export interface SessionTotals {
  costUsd: number;
  models: Record<string, ModelUsageTotals>;
}

interface RunCost {
  costUsd: number;
  usage: Usage;
}

/**
 * The cost that a run added. Newer binaries continue the session's totals after resume and fork;
 * older ones start at zero, which shows in a total below the previous one.
 */
export function costSince(before: SessionTotals | undefined, after: SessionTotals): RunCost {
  const continuesCount = before !== undefined && after.costUsd >= before.costUsd;
  const base = continuesCount ? before.models : {};
  const models = Object.fromEntries(
    Object.entries(after.models)
      .map(([model, modelTotals]) => [model, subtractUsage(modelTotals, base[model])] as const)
      .filter(([, usage]) => Object.values(usage).some((amount) => amount > 0)),
  );
  return {
    costUsd: roundUsd(continuesCount ? after.costUsd - before.costUsd : after.costUsd),
    usage: { ...sumUsage(Object.values(models)), models },
  };
}

/**
 * The larger of reported and metered cost: tools can call the API directly, a killed `claude` reports
 * nothing, and its output can be forged in a container.
 */
function combineCost(
  reported: RunCost | undefined,
  metered: Spending | undefined,
): { cost_usd: number | null; usage: Usage | null } {
  const counted = metered && totalTokens(metered.usage) > 0 ? meteredUsage(metered) : undefined;
  if (!reported || !counted || !metered) {
    const usage = reported?.usage ?? counted ?? null;
    return { cost_usd: reported?.costUsd ?? (counted ? roundUsd(metered?.usd ?? 0) : null), usage };
  }
  const isMore = totalTokens(counted) > totalTokens(reported.usage);
  return {
    cost_usd: /* defence: larger-cost */ Math.max(reported.costUsd, roundUsd(metered.usd)),
    usage: isMore ? counted : reported.usage,
  };
}

function meteredUsage({ usage, byModel }: Spending): Usage {
  const models = Object.entries(byModel).map(([model, { usd, ...tokens }]) => [
    model,
    { ...wholeTokens(tokens), cost_usd: roundUsd(usd) },
  ]);
  return { ...wholeTokens(usage), models: Object.fromEntries(models) };
}

/** Other APIs may report fractions of tokens; the record only has integers. */
function wholeTokens(tokens: TokenUsage): TokenUsage {
  return {
    input_tokens: Math.round(tokens.input_tokens),
    output_tokens: Math.round(tokens.output_tokens),
    cache_creation_input_tokens: Math.round(tokens.cache_creation_input_tokens),
    cache_read_input_tokens: Math.round(tokens.cache_read_input_tokens),
  };
}

type ModelUsage = Usage["models"][string];

function subtractUsage(after: ModelUsageTotals, before?: ModelUsageTotals): ModelUsage {
  const subtract = (key: keyof ModelUsageTotals) =>
    Math.max(0, (after[key] ?? 0) - (before?.[key] ?? 0));
  return {
    input_tokens: subtract("inputTokens"),
    output_tokens: subtract("outputTokens"),
    cache_read_input_tokens: subtract("cacheReadInputTokens"),
    cache_creation_input_tokens: subtract("cacheCreationInputTokens"),
    cost_usd: roundUsd(subtract("costUSD")),
  };
}

function sumUsage(all: ModelUsage[]) {
  const total = (key: keyof ModelUsage) => all.reduce((amount, usage) => amount + usage[key], 0);
  return {
    input_tokens: total("input_tokens"),
    output_tokens: total("output_tokens"),
    cache_read_input_tokens: total("cache_read_input_tokens"),
    cache_creation_input_tokens: total("cache_creation_input_tokens"),
  };
}

/** Removes floating-point noise; a millionth of a cent is precise enough. */
function roundUsd(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}

/** The session's totals before the run; a fork starts with those of its parent. */
export async function readTotalsBefore(
  order: Pick<RunOrder, "session"> & SessionHome,
  startedAt?: Date,
): Promise<SessionTotals | undefined> {
  const { session } = order;
  if (session.kind === "fresh") return undefined;
  const id = session.kind === "fork" ? session.from : session.sessionId;
  const { cost } = await readTranscript(sessionFilePath(order, id), startedAt);
  const models = modelTotalsSchema.safeParse(cost?.modelUsage);
  return cost && { costUsd: cost.totalCostUsd, models: models.success ? models.data : {} };
}

/** The report and files that an agent stored with its job. */
export interface JobDeliverables {
  /** Null if there is none. */
  report: unknown;
  artifacts: Artifact[];
}

/** Read from the job's folder, so that it also works after the runner died. */
export async function readDeliverables(jobDir: string): Promise<JobDeliverables> {
  const [report, artifacts] = await Promise.all([readReport(jobDir), listArtifacts(jobDir)]);
  return { report, artifacts };
}

/** Adds to the evidence whether a required report is missing. */
export function checkReport(
  evidence: Evidence,
  isReportRequired: boolean,
  { report }: JobDeliverables,
): Evidence {
  return { ...evidence, isReportMissing: isReportRequired && report === null };
}

/** Warnings about refused calls of fleet tools. Refused reports are left out: the agent corrects them. */
export function refusalWarnings({ toolRefusals }: Evidence): string[] {
  const relevantRefusals = toolRefusals.filter(({ tool }) => tool !== "report");
  return [
    ...new Set(
      relevantRefusals.map(
        ({ tool, reason }) => `refused: ${tool}: ${formatRefusal(tool, reason)}`,
      ),
    ),
  ];
}

function formatRefusal(tool: string, reason: string): string {
  if (!/No such tool available/.test(reason)) return reason;
  return `the agent does not have this tool; to allow it: tools: [${tool}]`;
}

type MetadataReadResult =
  | { kind: "none" }
  | { kind: "found"; metadata: Record<string, unknown> }
  | { kind: "wrong"; warning: string };

const maxBytes = 1024 * 1024;
const metadataSchema = z.record(z.string(), z.unknown());

/** The JSON object that the agent wrote for hooks, if it did so during this run. */
export async function readMetadataFile(
  from: WorkspaceAccess,
  name: string,
  since: Date,
): Promise<MetadataReadResult> {
  const invalid = (why: string): MetadataReadResult => ({
    kind: "wrong",
    warning: `${name} was not used: ${why}`,
  });
  // Resolved against the working directory, whose path differs in a container.
  const opened = await openWorkspaceFile(from, name);
  if (opened.kind === "missing") return { kind: "none" };
  if (opened.kind === "refused") return invalid(opened.reason);
  const { file, bytes } = opened;
  try {
    if ((await file.stat()).mtime < since) return { kind: "none" };
    if (bytes > maxBytes) return invalid("it is larger than 1 MB");
    const parsed = metadataSchema.safeParse(parseJson(await file.readFile("utf8")));
    return parsed.success
      ? { kind: "found", metadata: parsed.data }
      : invalid("it is not a JSON object");
  } finally {
    await file.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
