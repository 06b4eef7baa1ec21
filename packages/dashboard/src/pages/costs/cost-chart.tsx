import { useMemo, useState } from "react";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { formatCountOf, formatMoney, formatMoneyAxis } from "../../ui/format-quantities.ts";
import { StackedBarChart } from "../../ui/stacked-bars.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import { toChartSeries } from "./chart-series.ts";

export function CostChart({ view, by }: { view: ResponseOfRoute<"costs">; by: string }) {
  const [hoveredDay, setHoveredDay] = useState<number | null>(null);
  const names = useMemo(
    () => view.days.map((day) => timeFormats.utcDay.format(new Date(day))),
    [view.days],
  );
  const series = useMemo(() => toChartSeries(view, by), [view, by]);
  const { usd, runs, daily_limit_usd: limit, usd_by_day } = view.total;
  const dayName = hoveredDay === null ? undefined : names[hoveredDay];
  const sum = hoveredDay === null ? usd : (usd_by_day[hoveredDay] ?? 0);
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-xl font-semibold">{formatMoney(sum)}</span>
        <span className="text-muted">
          {dayName ?? formatCountOf(runs, "run")}
          {limit !== null && ` · daily budget ${formatMoney(limit)}`}
        </span>
      </p>
      <StackedBarChart
        label={`Cost by day, ${formatMoney(usd)} in total`}
        names={names}
        series={series}
        limit={limit}
        formatAxis={formatMoneyAxis}
        onHover={setHoveredDay}
      />
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {series.map(({ name, colour, values }) => (
          <li key={name} className="flex items-center gap-1.5">
            <span aria-hidden className={`size-2 rounded-sm ${colour.dot}`} />
            {name}
            {hoveredDay !== null && (
              <span className="text-text">{formatMoney(values[hoveredDay] ?? 0)}</span>
            )}
          </li>
        ))}
        {limit !== null && (
          <li className="flex items-center gap-1.5">
            <span aria-hidden className="w-3 border-t-2 border-dashed border-warn" />
            Daily budget, {formatMoney(limit)}
          </li>
        )}
      </ul>
    </>
  );
}
