import type { Approval, Job } from "@herdctl/server/contract";
import type { Asked } from "./asked.ts";
import type { Entry, MarkerEntry, ToolEntry, Turn } from "./entry.ts";
import { gistOf, toolName } from "./gist.ts";
import { type JobRecord, momentOf } from "./record.ts";
import type { Story } from "./story.ts";

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

/** A stretch of time; without an end it goes on. */
export interface Span {
  kind: SpanKind;
  start: number;
  end: number | null;
}

/** One line of the waterfall: what it was, and when. */
export interface Bar {
  key: string;
  label: string;
  detail: string;
  depth: number;
  spans: Span[];
  isError: boolean;
  /** Where it stands in the conversation. */
  entryKey: string | null;
  /** The job that was handed on. */
  jobId: string | null;
}

export function waterfallOf(story: Story, record: JobRecord, asked: Asked): Bar[] {
  const bars = [...queueBar(record), ...startBar(story, record), ...attemptBars(record)];
  const draft: Draft = { bars, cwd: story.cwd, asked, left: [...record.handedOn], until: record };
  addEntries(draft, story.entries, 0);
  for (const job of draft.left) bars.push(jobBar(job, 0));
  return bars;
}

interface Draft {
  bars: Bar[];
  cwd: string | null;
  asked: Asked;
  /** Handed on, and not found at a call yet. */
  left: Job[];
  until: JobRecord;
}

function queueBar({ job }: JobRecord): Bar[] {
  const start = momentOf(job.created_at);
  const end = momentOf(job.started_at) ?? momentOf(job.finished_at);
  if (start === null) return [];
  const span: Span = { kind: "queue", start, end };
  return [bar({ key: "queue", label: "Queue", detail: "until it was started", spans: [span] })];
}

/** What Claude Code needs before it says its first word. */
function startBar({ entries: [first] }: Story, { job }: JobRecord): Bar[] {
  const start = momentOf(job.started_at);
  if (start === null) return [];
  const end = first ? first.at : momentOf(job.finished_at);
  const span: Span = { kind: "start", start, end: end === null ? null : Math.max(start, end) };
  return [bar({ key: "start", label: "Start", detail: "of Claude Code", spans: [span] })];
}

/** One attempt is the job itself; of several each is shown, with the wait between them. */
function attemptBars({ attempts }: JobRecord): Bar[] {
  if (attempts.length < 2) return [];
  return attempts.flatMap(({ number, started_at, finished_at, outcome_code }, at) => {
    const start = momentOf(started_at) ?? 0;
    const before = momentOf(attempts[at - 1]?.finished_at ?? null);
    const wait: Span[] = before === null ? [] : [{ kind: "wait", start: before, end: start }];
    return bar({
      key: `attempt-${number}`,
      label: `Attempt ${number}`,
      detail: outcome_code ?? "",
      spans: [...wait, { kind: "attempt", start, end: momentOf(finished_at) }],
      isError: outcome_code !== null && outcome_code !== "success",
      entryKey: at === 0 ? "prompt" : `attempt-${number}`,
    });
  });
}

function addEntries(draft: Draft, entries: readonly Entry[], depth: number): void {
  let turn: Turn | null = null;
  for (const entry of entries) {
    if (entry.turn !== null && entry.turn !== turn) {
      turn = entry.turn;
      draft.bars.push(keptTurnBar(turn, entry, depth));
    }
    if (entry.kind === "tool") addTool(draft, entry, depth + 1);
    if (entry.kind === "marker" && entry.marker === "retry")
      draft.bars.push(retryBar(entry, depth));
  }
}

/** Kept as long as it says the same: a long waterfall is laid out again with each bar. */
const turnBars = new WeakMap<Turn, Bar>();
const toolBars = new WeakMap<ToolEntry, { revision: number; bar: Bar }>();

function keptTurnBar(turn: Turn, entry: Entry, depth: number): Bar {
  const before = turnBars.get(turn);
  const isSame = before?.spans[0]?.end === turn.endedAt && !("isOpen" in entry && entry.isOpen);
  if (before && isSame) return before;
  const made = turnBar(turn, wordsOf(entry), depth);
  turnBars.set(turn, made);
  return made;
}

function turnBar(turn: Turn, detail: string, depth: number): Bar {
  const { key, number, startedAt, endedAt, entryKey } = turn;
  const spans: Span[] =
    startedAt === null ? [] : [{ kind: "api", start: startedAt, end: endedAt ?? startedAt }];
  return bar({ key, label: `Turn ${number}`, detail, depth, spans, entryKey });
}

function wordsOf(entry: Entry): string {
  const isSaid = entry.kind === "text" || entry.kind === "thinking";
  return isSaid ? entry.text.slice(0, 120).trim().replace(/\s+/g, " ") : "";
}

function addTool(draft: Draft, tool: ToolEntry, depth: number): void {
  draft.bars.push(keptToolBar(draft, tool, depth));
  if (tool.children.length > 0) addEntries(draft, tool.children, depth + 1);
  const handedOn = takeHandedOn(draft, tool);
  if (handedOn) draft.bars.push(jobBar(handedOn, depth + 1));
}

function keptToolBar(draft: Draft, tool: ToolEntry, depth: number): Bar {
  const mayChange = tool.endedAt === null || draft.asked.byTool.has(tool.key);
  const before = mayChange ? undefined : toolBars.get(tool);
  if (before?.revision === tool.revision) return before.bar;
  const made = toolBar(draft, tool, depth);
  toolBars.set(tool, { revision: tool.revision, bar: made });
  return made;
}

function toolBar(draft: Draft, tool: ToolEntry, depth: number): Bar {
  const { key, at, result, denied } = tool;
  const kind = tool.children.length > 0 || isAgent(tool) ? "agent" : "tool";
  const waits = (draft.asked.byTool.get(key) ?? []).map(waitSpan);
  return bar({
    key,
    label: toolName(tool.tool),
    detail: gistOf(tool, draft.cwd),
    depth,
    spans: at === null ? waits : [{ kind, start: at, end: endOf(draft, tool) }, ...waits],
    isError: result?.isError === true || denied !== null,
    entryKey: key,
  });
}

/** When the job is over, so is whatever it had open. */
function endOf({ until }: Draft, { at, endedAt, result, task }: ToolEntry): number | null {
  const goesOn = result === null || task?.status === "running";
  return endedAt ?? (goesOn ? momentOf(until.job.finished_at) : at);
}

function isAgent({ tool }: ToolEntry): boolean {
  return tool === "Agent" || tool === "Task";
}

function waitSpan({ asked_at, answered_at, expires_at, answer }: Approval): Span {
  const start = momentOf(asked_at) ?? 0;
  const end = momentOf(answered_at) ?? (answer === null ? null : momentOf(expires_at));
  return { kind: "wait", start, end };
}

const delegate = "mcp__herd__delegate";

/** By its id in the answer; while there is none, the oldest that fits. */
function takeHandedOn({ left }: Draft, { tool, input, result }: ToolEntry): Job | undefined {
  if (tool !== delegate) return undefined;
  const at = left.findIndex(({ id, agent }) =>
    result ? result.text.includes(id) : agent === input.agent,
  );
  return at === -1 ? undefined : left.splice(at, 1)[0];
}

function jobBar(
  { id, agent, created_at, started_at, finished_at, outcome }: Job,
  depth: number,
): Bar {
  const created = momentOf(created_at) ?? 0;
  const started = momentOf(started_at);
  const end = momentOf(finished_at);
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

function retryBar({ key, text, at, lastsMs }: MarkerEntry, depth: number): Bar {
  const spans: Span[] = at === null ? [] : [{ kind: "retry", start: at, end: at + (lastsMs ?? 0) }];
  return bar({ key, label: "Retry", detail: text, depth, spans, isError: true, entryKey: key });
}

function bar(given: Partial<Bar> & Pick<Bar, "key" | "label" | "detail" | "spans">): Bar {
  return { depth: 0, isError: false, entryKey: null, jobId: null, ...given };
}
