import type { Approval, Job } from "@herdctl/server/contract";
import type { Entry, MarkerEntry, ToolEntry, Turn } from "./entry.ts";
import { type JobRecord, toEpochMs } from "./job-record.ts";
import type { MatchedApprovals } from "./match-approvals.ts";
import { formatToolName, summarizeToolCall } from "./summarize-tool-call.ts";
import type { Transcript } from "./transcript.ts";

export type SpanKind =
  | "queue"
  | "start"
  | "attempt"
  | "api"
  | "tool"
  | "agent"
  | "wait"
  | "retry"
  | "job";

/** A time range; without an end it is still open. */
export interface Span {
  kind: SpanKind;
  start: number;
  end: number | null;
}

/** One line of the waterfall. */
export interface Bar {
  key: string;
  label: string;
  detail: string;
  depth: number;
  spans: Span[];
  isError: boolean;
  /** Its entry in the conversation. */
  entryKey: string | null;
  /** The delegated job that the bar links to. */
  jobId: string | null;
}

export function toWaterfallBars(
  transcript: Transcript,
  record: JobRecord,
  matched: MatchedApprovals,
): Bar[] {
  const bars = [...queueBar(record), ...startBar(transcript, record), ...attemptBars(record)];
  const builder: WaterfallBuilder = {
    bars,
    cwd: transcript.cwd,
    matched,
    unplacedJobs: [...record.delegatedJobs],
    record,
  };
  addEntries(builder, transcript.entries, 0);
  for (const job of builder.unplacedJobs) bars.push(jobBar(job, 0));
  return bars;
}

interface WaterfallBuilder {
  bars: Bar[];
  cwd: string | null;
  matched: MatchedApprovals;
  /** Delegated jobs that have not been matched to a tool call yet. */
  unplacedJobs: Job[];
  record: JobRecord;
}

function queueBar({ job }: JobRecord): Bar[] {
  const start = toEpochMs(job.created_at);
  const end = toEpochMs(job.started_at) ?? toEpochMs(job.finished_at);
  if (start === null) return [];
  const span: Span = { kind: "queue", start, end };
  return [bar({ key: "queue", label: "Queue", detail: "Waiting to start", spans: [span] })];
}

/** The time Claude Code needs before its first output. */
function startBar({ entries: [first] }: Transcript, { job }: JobRecord): Bar[] {
  const start = toEpochMs(job.started_at);
  if (start === null) return [];
  const end = first ? first.at : toEpochMs(job.finished_at);
  const span: Span = { kind: "start", start, end: end === null ? null : Math.max(start, end) };
  return [bar({ key: "start", label: "Start", detail: "Claude Code", spans: [span] })];
}

/** Several attempts get one bar each, with the wait before it. A single attempt gets none. */
function attemptBars({ attempts }: JobRecord): Bar[] {
  if (attempts.length < 2) return [];
  return attempts.flatMap(({ number, started_at, finished_at, outcome_code }, index) => {
    const start = toEpochMs(started_at) ?? 0;
    const previousEnd = toEpochMs(attempts[index - 1]?.finished_at ?? null);
    const wait: Span[] =
      previousEnd === null ? [] : [{ kind: "wait", start: previousEnd, end: start }];
    return bar({
      key: `attempt-${number}`,
      label: `Attempt ${number}`,
      detail: outcome_code ?? "",
      spans: [...wait, { kind: "attempt", start, end: toEpochMs(finished_at) }],
      isError: outcome_code !== null && outcome_code !== "success",
      entryKey: index === 0 ? "prompt" : `attempt-${number}`,
    });
  });
}

function addEntries(builder: WaterfallBuilder, entries: readonly Entry[], depth: number): void {
  let turn: Turn | null = null;
  for (const entry of entries) {
    if (entry.turn !== null && entry.turn !== turn) {
      turn = entry.turn;
      builder.bars.push(cachedTurnBar(turn, entry, depth));
    }
    if (entry.kind === "tool") addTool(builder, entry, depth + 1);
    if (entry.kind === "marker" && entry.marker === "retry")
      builder.bars.push(retryBar(entry, depth));
  }
}

/** Unchanged bars are cached, because every new bar rebuilds the whole list. */
const turnBarCache = new WeakMap<Turn, Bar>();
const toolBarCache = new WeakMap<ToolEntry, { revision: number; bar: Bar }>();

function cachedTurnBar(turn: Turn, entry: Entry, depth: number): Bar {
  const cached = turnBarCache.get(turn);
  const isSame =
    cached?.spans[0]?.end === turn.endedAt && !("isStreaming" in entry && entry.isStreaming);
  if (cached && isSame) return cached;
  const created = turnBar(turn, summarizeText(entry), depth);
  turnBarCache.set(turn, created);
  return created;
}

function turnBar(turn: Turn, detail: string, depth: number): Bar {
  const { key, number, startedAt, endedAt, entryKey } = turn;
  const spans: Span[] =
    startedAt === null ? [] : [{ kind: "api", start: startedAt, end: endedAt ?? startedAt }];
  return bar({ key, label: `Turn ${number}`, detail, depth, spans, entryKey });
}

function summarizeText(entry: Entry): string {
  const isModelText = entry.kind === "text" || entry.kind === "thinking";
  return isModelText ? entry.text.slice(0, 120).trim().replace(/\s+/g, " ") : "";
}

function addTool(builder: WaterfallBuilder, tool: ToolEntry, depth: number): void {
  builder.bars.push(cachedToolBar(builder, tool, depth));
  if (tool.children.length > 0) addEntries(builder, tool.children, depth + 1);
  const delegatedJob = takeDelegatedJob(builder, tool);
  if (delegatedJob) builder.bars.push(jobBar(delegatedJob, depth + 1));
}

function cachedToolBar(builder: WaterfallBuilder, tool: ToolEntry, depth: number): Bar {
  const canChange = tool.endedAt === null || builder.matched.byTool.has(tool.key);
  const cached = canChange ? undefined : toolBarCache.get(tool);
  if (cached?.revision === tool.revision) return cached.bar;
  const created = toolBar(builder, tool, depth);
  toolBarCache.set(tool, { revision: tool.revision, bar: created });
  return created;
}

function toolBar(builder: WaterfallBuilder, tool: ToolEntry, depth: number): Bar {
  const { key, at, result, deniedReason } = tool;
  const kind = tool.children.length > 0 || isAgent(tool) ? "agent" : "tool";
  const waits = (builder.matched.byTool.get(key) ?? []).map(waitSpan);
  return bar({
    key,
    label: formatToolName(tool.tool),
    detail: summarizeToolCall(tool, builder.cwd),
    depth,
    spans: at === null ? waits : [{ kind, start: at, end: findToolEnd(builder, tool) }, ...waits],
    isError: result?.isError === true || deniedReason !== null,
    entryKey: key,
  });
}

/** Open tool calls end when the job ends. */
function findToolEnd(
  { record }: WaterfallBuilder,
  { at, endedAt, result, task }: ToolEntry,
): number | null {
  const isRunning = result === null || task?.status === "running";
  return endedAt ?? (isRunning ? toEpochMs(record.job.finished_at) : at);
}

function isAgent({ tool }: ToolEntry): boolean {
  return tool === "Agent" || tool === "Task";
}

function waitSpan({ requested_at, answered_at, expires_at, answer }: Approval): Span {
  const start = toEpochMs(requested_at) ?? 0;
  const end = toEpochMs(answered_at) ?? (answer === null ? null : toEpochMs(expires_at));
  return { kind: "wait", start, end };
}

const delegateTool = "mcp__herd__delegate";

/** Finds the delegated job by its id in the tool result; before that, by agent name. */
function takeDelegatedJob(
  { unplacedJobs }: WaterfallBuilder,
  { tool, input, result }: ToolEntry,
): Job | undefined {
  if (tool !== delegateTool) return undefined;
  const index = unplacedJobs.findIndex(({ id, agent }) =>
    result ? result.text.includes(id) : agent === input.agent,
  );
  return index === -1 ? undefined : unplacedJobs.splice(index, 1)[0];
}

function jobBar(
  { id, agent, created_at, started_at, finished_at, outcome }: Job,
  depth: number,
): Bar {
  const created = toEpochMs(created_at) ?? 0;
  const started = toEpochMs(started_at);
  const end = toEpochMs(finished_at);
  const queue: Span = { kind: "queue", start: created, end: started ?? end };
  const run: Span[] = started === null ? [] : [{ kind: "job", start: started, end }];
  const isError = outcome !== null && outcome.code !== "success";
  return bar({
    key: id,
    label: agent,
    detail: id,
    depth,
    spans: [queue, ...run],
    isError,
    jobId: id,
  });
}

function retryBar({ key, text, at, retryDelayMs }: MarkerEntry, depth: number): Bar {
  const spans: Span[] =
    at === null ? [] : [{ kind: "retry", start: at, end: at + (retryDelayMs ?? 0) }];
  return bar({ key, label: "Retry", detail: text, depth, spans, isError: true, entryKey: key });
}

function bar(fields: Partial<Bar> & Pick<Bar, "key" | "label" | "detail" | "spans">): Bar {
  return { depth: 0, isError: false, entryKey: null, jobId: null, ...fields };
}
