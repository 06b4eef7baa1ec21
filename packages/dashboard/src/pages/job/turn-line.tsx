import type { Turn } from "../../transcript/entry.ts";
import { formatCount, formatCountOf, formatDuration } from "../../ui/format-quantities.ts";
import { useJobView } from "./job-view-context.ts";

/** Marks the start of a turn, with its duration and token counts. */
export function TurnLine({ turn }: { turn: Turn }) {
  const { selectEntry } = useJobView();
  const { number, startedAt, endedAt, usage } = turn;
  const durationSeconds =
    startedAt !== null && endedAt !== null ? (endedAt - startedAt) / 1000 : null;
  const inputTokens = usage && usage.input + usage.cacheRead + usage.cacheWrite;
  const details = [
    durationSeconds !== null && formatDuration(durationSeconds),
    inputTokens !== null && formatCountOf(inputTokens, "input token"),
    usage?.cacheRead ? `${formatCount(usage.cacheRead)} cached` : false,
    usage?.output && formatCountOf(usage.output, "output token"),
  ].filter(Boolean);
  return (
    <button
      type="button"
      onClick={() => selectEntry(turn.key)}
      title="Show in the waterfall"
      className="mt-2 mb-0.5 flex w-full items-center gap-2 text-left text-xs text-muted hover:text-text"
    >
      <span className="font-medium">Turn {number}</span>
      <span>{details.join(" · ")}</span>
      <span aria-hidden className="h-px flex-1 bg-line" />
    </button>
  );
}
