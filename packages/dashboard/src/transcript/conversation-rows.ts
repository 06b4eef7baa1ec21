import type { Approval, Attempt } from "@herdctl/server/contract";
import type { Entry, ToolEntry } from "./entry.ts";
import { type JobRecord, toEpochMs } from "./job-record.ts";
import type { MatchedApprovals } from "./match-approvals.ts";
import type { Transcript } from "./transcript.ts";

/** One row of the conversation. Entries of subagents follow the call that started them. */
export type Row =
  | { kind: "prompt"; key: string; depth: number; text: string }
  | { kind: "attempt"; key: string; depth: number; attempt: Attempt; previous: Attempt | undefined }
  | { kind: "approval"; key: string; depth: number; approval: Approval }
  | { kind: "entry"; key: string; depth: number; entry: Entry; startsTurn: boolean };

export interface FoldingState {
  /** Entries that the user expanded or collapsed; all others use `isOpenByDefault`. */
  overrides: ReadonlyMap<string, boolean>;
}

export function toConversationRows(
  transcript: Transcript,
  { job, attempts }: JobRecord,
  matched: MatchedApprovals,
  foldingState: FoldingState,
): Row[] {
  const rows: Row[] = [{ kind: "prompt", key: "prompt", depth: 0, text: job.prompt }];
  const extraRows = [
    ...attempts.slice(1).map(toAttemptRow(attempts)),
    ...matched.unmatched.map(toApprovalRow),
  ];
  const pendingRows = extraRows.sort((a, b) => a.at - b.at);
  for (const entry of transcript.entries) {
    while (pendingRows[0] && entry.at !== null && pendingRows[0].at <= entry.at) {
      const [next] = pendingRows.splice(0, 1);
      if (next) rows.push(next.row);
    }
    addEntry(rows, entry, 0, foldingState);
  }
  rows.push(...pendingRows.map(({ row }) => row));
  return rows;
}

interface TimedRow {
  at: number;
  row: Row;
}

function toAttemptRow(attempts: readonly Attempt[]): (attempt: Attempt) => TimedRow {
  return (attempt) => {
    const previous = attempts.find(({ number }) => number === attempt.number - 1);
    const key = `attempt-${attempt.number}`;
    const at = toEpochMs(attempt.started_at) ?? 0;
    return { at, row: { kind: "attempt", key, depth: 0, attempt, previous } };
  };
}

function toApprovalRow(approval: Approval): TimedRow {
  const row: Row = { kind: "approval", key: approval.id, depth: 0, approval };
  return { at: toEpochMs(approval.requested_at) ?? 0, row };
}

function addEntry(rows: Row[], entry: Entry, depth: number, foldingState: FoldingState): void {
  rows.push(toRow(entry, depth));
  if (entry.kind !== "tool" || entry.children.length === 0 || !isOpen(entry, foldingState)) return;
  for (const child of entry.children) addEntry(rows, child, depth + 1, foldingState);
}

/** Rows are cached, because every new entry rebuilds the whole list. */
const rowCache = new WeakMap<Entry, Row>();

function toRow(entry: Entry, depth: number): Row {
  const previous = rowCache.get(entry);
  if (previous) return previous;
  const startsTurn = entry.turn !== null && entry.turn.entryKey === entry.key;
  const row: Row = { kind: "entry", key: entry.key, depth, entry, startsTurn };
  rowCache.set(entry, row);
  return row;
}

function isOpen(tool: ToolEntry, { overrides }: FoldingState): boolean {
  return overrides.get(tool.key) ?? isOpenByDefault(tool);
}

/** Running subagents are open; long finished ones are collapsed. */
function isOpenByDefault(tool: ToolEntry): boolean {
  return tool.endedAt === null || tool.descendants <= 12;
}
