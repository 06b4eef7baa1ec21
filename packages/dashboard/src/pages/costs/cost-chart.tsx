import { useMemo, useState } from "react";
import type { Answer } from "../../api/ask.ts";
import { countWords, moneyWords } from "../../ui/quantities.ts";
import { StackedBars } from "../../ui/stacked-bars.tsx";
import { chartSeries } from "./chart-series.ts";

const dayFormat = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

export function CostChart({ view, by }: { view: Answer<"costs">; by: string }) {
  const [point, setPoint] = useState<number | null>(null);
  const names = useMemo(() => view.days.map((day) => dayFormat.format(new Date(day))), [view.days]);
  const series = useMemo(() => chartSeries(view, by), [view, by]);
  const { usd, runs, daily_limit_usd: limit, usd_by_day } = view.total;
  const shown = point === null ? undefined : names[point];
  const sum = point === null ? usd : (usd_by_day[point] ?? 0);
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-xl font-semibold">{moneyWords(sum)}</span>
        <span className="text-muted">
          {shown ?? `${countWords(runs)} runs`}
          {limit !== null && ` · at most ${moneyWords(limit)} a day`}
        </span>
      </p>
      <StackedBars
        label={`Cost by day, ${moneyWords(usd)} in all`}
        names={names}
        series={series}
        limit={limit}
        words={moneyWords}
        onPoint={setPoint}
      />
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {series.map(({ name, colour, values }) => (
          <li key={name} className="flex items-center gap-1.5">
            <span aria-hidden className={`size-2 rounded-sm ${colour.dot}`} />
            {name}
            {point !== null && <span className="text-text">{moneyWords(values[point] ?? 0)}</span>}
          </li>
        ))}
        {limit !== null && (
          <li className="flex items-center gap-1.5">
            <span aria-hidden className="w-3 border-t-2 border-dashed border-warn" />
            budget of a day, {moneyWords(limit)}
          </li>
        )}
      </ul>
    </>
  );
}
