import type { EndEntry } from "../../job/entry.ts";
import { classNames } from "../../ui/class-names.ts";
import { countWords, durationWords, moneyWords } from "../../ui/quantities.ts";

/** A result, with what it took and cost. What was said stands above it already, unless it failed. */
export function EndView({ entry }: { entry: EndEntry }) {
  const { isError, text, costUsd, turns, durationMs, apiMs, usage } = entry;
  const facts = [
    turns !== null && `${turns} ${turns === 1 ? "turn" : "turns"}`,
    durationMs !== null && durationWords(durationMs / 1000),
    apiMs !== null && `API ${durationWords(apiMs / 1000)}`,
    usage && `${countWords(usage.input + usage.cacheRead + usage.cacheWrite)} tokens in`,
    usage?.output && `${countWords(usage.output)} out`,
    costUsd !== null && moneyWords(costUsd),
  ].filter(Boolean);
  return (
    <div
      className={classNames(
        "my-1 rounded border px-3 py-1.5",
        isError ? "border-bad bg-bad-soft" : "border-line bg-surface",
      )}
    >
      <p className="flex flex-wrap gap-x-2 text-sm">
        <span className={classNames("font-medium", isError ? "text-bad" : "text-ok")}>
          {isError ? "Ended with an error" : "Done"}
        </span>
        <span className="text-muted">{facts.join(" · ")}</span>
      </p>
      {isError && <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{text.slice(0, 10_000)}</p>}
    </div>
  );
}
