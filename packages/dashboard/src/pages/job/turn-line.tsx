import type { Turn } from "../../job/entry.ts";
import { countWords, durationWords } from "../../ui/quantities.ts";
import { useJobView } from "./job-view.ts";

/** Where the model begins to answer: how long it took, and what went in and came out. */
export function TurnLine({ turn }: { turn: Turn }) {
  const { choose } = useJobView();
  const { number, startedAt, endedAt, usage } = turn;
  const took = startedAt !== null && endedAt !== null ? (endedAt - startedAt) / 1000 : null;
  const read = usage && usage.input + usage.cacheRead + usage.cacheWrite;
  const words = [
    took !== null && durationWords(took),
    read !== null && `${countWords(read)} tokens in`,
    usage?.cacheRead ? `${countWords(usage.cacheRead)} cached` : false,
    usage?.output && `${countWords(usage.output)} out`,
  ].filter(Boolean);
  return (
    <button
      type="button"
      onClick={() => choose(turn.key)}
      title="Show it in the waterfall"
      className="mt-2 mb-0.5 flex w-full items-center gap-2 text-left text-xs text-muted hover:text-text"
    >
      <span className="font-medium">Turn {number}</span>
      <span>{words.join(" · ")}</span>
      <span aria-hidden className="h-px flex-1 bg-line" />
    </button>
  );
}
