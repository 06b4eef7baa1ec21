import type { Attempt } from "@herdctl/server/contract";
import type { Row } from "../../transcript/conversation-rows.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toEpochMs } from "../../transcript/job-record.ts";
import { formatDuration } from "../../ui/format-quantities.ts";
import { OutcomeCodeBadge } from "../../ui/outcome-badge.tsx";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { FoldedText } from "./folded-text.tsx";
import { MarkerLine, MarkerView } from "./marker-view.tsx";
import { ModelTextView } from "./model-text-view.tsx";
import { ResultView } from "./result-view.tsx";
import { ToolView } from "./tool-view.tsx";
import { TurnLine } from "./turn-line.tsx";

export function RowView({ row }: { row: Row }) {
  if (row.kind === "prompt") return <Prompt text={row.text} />;
  if (row.kind === "attempt") return <AttemptLine {...row} />;
  if (row.kind === "approval") return <ApprovalCard approval={row.approval} />;
  return (
    <>
      {row.startsTurn && row.entry.turn && <TurnLine turn={row.entry.turn} />}
      <EntryView entry={row.entry} depth={row.depth} />
    </>
  );
}

function EntryView({ entry, depth }: { entry: Entry; depth: number }) {
  if (entry.kind === "tool") return <ToolView tool={entry} depth={depth} />;
  if (entry.kind === "marker") return <MarkerView entry={entry} />;
  if (entry.kind === "end") return <ResultView entry={entry} />;
  if (entry.kind === "user") return <UserText text={entry.text} />;
  return <ModelTextView entry={entry} depth={depth} />;
}

function Prompt({ text }: { text: string }) {
  return (
    <section aria-label="Prompt" className="rounded border border-line bg-sunken px-3 py-2">
      <h2 className="mb-1 text-sm font-medium text-muted">Prompt</h2>
      <FoldedText text={text} lines={12} />
    </section>
  );
}

function UserText({ text }: { text: string }) {
  return (
    <section
      aria-label="Message to the agent"
      className="rounded border border-line bg-sunken px-3 py-2"
    >
      <FoldedText text={text} lines={12} />
    </section>
  );
}

function AttemptLine({ attempt, previous }: { attempt: Attempt; previous: Attempt | undefined }) {
  const previousEndedAt = toEpochMs(previous?.finished_at ?? null);
  const waitedMs =
    previousEndedAt === null
      ? null
      : (toEpochMs(attempt.started_at) ?? previousEndedAt) - previousEndedAt;
  return (
    <MarkerLine symbol="↻" tone="warn">
      <span className="font-medium">Attempt {attempt.number}</span>
      {previous?.outcome_code && (
        <>
          {" after "}
          <OutcomeCodeBadge code={previous.outcome_code} />
        </>
      )}
      {waitedMs !== null && `, ${formatDuration(waitedMs / 1000)} later`}
    </MarkerLine>
  );
}
