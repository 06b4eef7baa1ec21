import type { Attempt } from "@herdctl/server/contract";
import type { Row } from "../../job/conversation.ts";
import type { Entry } from "../../job/entry.ts";
import { momentOf } from "../../job/record.ts";
import { OutcomeCodeBadge } from "../../ui/outcome-badge.tsx";
import { durationWords } from "../../ui/quantities.ts";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { EndView } from "./end-view.tsx";
import { FoldedText } from "./folded-text.tsx";
import { MarkerLine, MarkerView } from "./marker-view.tsx";
import { SaidView } from "./said-view.tsx";
import { ToolView } from "./tool-view.tsx";
import { TurnLine } from "./turn-line.tsx";

export function RowView({ row }: { row: Row }) {
  if (row.kind === "prompt") return <Prompt text={row.text} />;
  if (row.kind === "attempt") return <AttemptLine {...row} />;
  if (row.kind === "asked") return <ApprovalCard approval={row.approval} />;
  return (
    <>
      {row.beginsTurn && row.entry.turn && <TurnLine turn={row.entry.turn} />}
      <EntryView entry={row.entry} depth={row.depth} />
    </>
  );
}

function EntryView({ entry, depth }: { entry: Entry; depth: number }) {
  if (entry.kind === "tool") return <ToolView tool={entry} depth={depth} />;
  if (entry.kind === "marker") return <MarkerView entry={entry} />;
  if (entry.kind === "end") return <EndView entry={entry} />;
  if (entry.kind === "heard") return <Heard text={entry.text} />;
  return <SaidView entry={entry} depth={depth} />;
}

function Prompt({ text }: { text: string }) {
  return (
    <section aria-label="Prompt" className="rounded border border-line bg-sunken px-3 py-2">
      <h2 className="mb-1 text-sm font-medium text-muted">Prompt</h2>
      <FoldedText text={text} lines={12} />
    </section>
  );
}

function Heard({ text }: { text: string }) {
  return (
    <section
      aria-label="Said to the agent"
      className="rounded border border-line bg-sunken px-3 py-2"
    >
      <FoldedText text={text} lines={12} />
    </section>
  );
}

function AttemptLine({ attempt, before }: { attempt: Attempt; before: Attempt | undefined }) {
  const ended = momentOf(before?.finished_at ?? null);
  const waited = ended === null ? null : (momentOf(attempt.started_at) ?? ended) - ended;
  return (
    <MarkerLine sign="↻" tone="warn">
      <span className="font-medium">Attempt {attempt.number}</span>
      {before?.outcome_code && (
        <>
          {" after "}
          <OutcomeCodeBadge code={before.outcome_code} />
        </>
      )}
      {waited !== null && ` and a wait of ${durationWords(waited / 1000)}`}
    </MarkerLine>
  );
}
