import type { Approval, Attempt } from "@herdctl/server/contract";
import type { Asked } from "./asked.ts";
import type { Entry, ToolEntry } from "./entry.ts";
import { type JobRecord, momentOf } from "./record.ts";
import type { Story } from "./story.ts";

/** One line of the conversation as it is shown, subagents below the call that started them. */
export type Row =
  | { kind: "prompt"; key: string; depth: number; text: string }
  | { kind: "attempt"; key: string; depth: number; attempt: Attempt; before: Attempt | undefined }
  | { kind: "asked"; key: string; depth: number; approval: Approval }
  | { kind: "entry"; key: string; depth: number; entry: Entry; beginsTurn: boolean };

export interface Folding {
  /** What a person opened or closed; the rest is as `isUsuallyOpen` says. */
  chosen: ReadonlyMap<string, boolean>;
}

export function conversationOf(
  story: Story,
  { job, attempts }: JobRecord,
  asked: Asked,
  folding: Folding,
): Row[] {
  const rows: Row[] = [{ kind: "prompt", key: "prompt", depth: 0, text: job.prompt }];
  const extra = [...attempts.slice(1).map(attemptRow(attempts)), ...asked.others.map(askedRow)];
  const waiting = extra.sort((a, b) => a.at - b.at);
  for (const entry of story.entries) {
    while (waiting[0] && entry.at !== null && waiting[0].at <= entry.at) {
      const [next] = waiting.splice(0, 1);
      if (next) rows.push(next.row);
    }
    addEntry(rows, entry, 0, folding);
  }
  rows.push(...waiting.map(({ row }) => row));
  return rows;
}

interface Extra {
  at: number;
  row: Row;
}

function attemptRow(attempts: readonly Attempt[]): (attempt: Attempt) => Extra {
  return (attempt) => {
    const before = attempts.find(({ number }) => number === attempt.number - 1);
    const key = `attempt-${attempt.number}`;
    const at = momentOf(attempt.started_at) ?? 0;
    return { at, row: { kind: "attempt", key, depth: 0, attempt, before } };
  };
}

function askedRow(approval: Approval): Extra {
  const row: Row = { kind: "asked", key: approval.id, depth: 0, approval };
  return { at: momentOf(approval.asked_at) ?? 0, row };
}

function addEntry(rows: Row[], entry: Entry, depth: number, folding: Folding): void {
  rows.push(rowOf(entry, depth));
  if (entry.kind !== "tool" || entry.children.length === 0 || !isOpen(entry, folding)) return;
  for (const child of entry.children) addEntry(rows, child, depth + 1, folding);
}

/** Made once for each entry: a long conversation is laid out again with each that is added. */
const known = new WeakMap<Entry, Row>();

function rowOf(entry: Entry, depth: number): Row {
  const before = known.get(entry);
  if (before) return before;
  const beginsTurn = entry.turn !== null && entry.turn.entryKey === entry.key;
  const row: Row = { kind: "entry", key: entry.key, depth, entry, beginsTurn };
  known.set(entry, row);
  return row;
}

function isOpen(tool: ToolEntry, { chosen }: Folding): boolean {
  return chosen.get(tool.key) ?? isUsuallyOpen(tool);
}

/** A subagent at work is watched; of a long one that is over the answer is enough. */
function isUsuallyOpen(tool: ToolEntry): boolean {
  return tool.endedAt === null || tool.descendants <= 12;
}
