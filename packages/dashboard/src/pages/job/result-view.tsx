import type { ResultEntry } from "../../transcript/entry.ts";
import { classNames } from "../../ui/class-names.ts";
import { formatCountOf, formatDuration, formatMoney } from "../../ui/format-quantities.ts";
import { useJobView } from "./job-view-context.ts";

const smallestUsd = 0.000_001;

/** A result with its duration and cost. Its text is shown only for errors, because the conversation above already has it. */
export function ResultView({ entry }: { entry: ResultEntry }) {
  const { isError, text, costUsd, turns, durationMs, apiMs, usage } = entry;
  const { job } = useJobView();
  const continuesSession =
    (job.resumed_from ?? job.forked_from) !== null ||
    (job.cost_usd !== null && (costUsd ?? 0) > job.cost_usd + smallestUsd);
  const isSessionTotal = entry.isFirst && continuesSession;
  const facts = [
    turns !== null && formatCountOf(turns, "turn"),
    durationMs !== null && formatDuration(durationMs / 1000),
    apiMs !== null && `API ${formatDuration(apiMs / 1000)}`,
    usage && formatCountOf(usage.input + usage.cacheRead + usage.cacheWrite, "input token"),
    usage?.output && formatCountOf(usage.output, "output token"),
    costUsd !== null && `${isSessionTotal ? "session total " : ""}${formatMoney(costUsd)}`,
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
          {isError ? "Failed" : "Done"}
        </span>
        <span className="text-muted">{facts.join(" · ")}</span>
      </p>
      {isError && <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{text.slice(0, 10_000)}</p>}
    </div>
  );
}
