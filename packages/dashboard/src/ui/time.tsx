import { formatAgo, formatDuration, formatMoney } from "./format-quantities.ts";
import { timeFormats } from "./time-formats.ts";
import { useNow } from "./use-now.ts";

/** A time such as `3 minutes ago`, with the exact time as tooltip. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={timeFormats.exact.format(date)} className="whitespace-nowrap">
      {formatAgo(date.getTime(), now)}
    </time>
  );
}

/** The exact time in the browser's time zone. */
export function Time({
  at,
  style = timeFormats.exact,
}: {
  at: string;
  style?: Intl.DateTimeFormat;
}) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={timeFormats.exact.format(date)} className="whitespace-nowrap">
      {style.format(date)}
    </time>
  );
}

export function Duration({ seconds }: { seconds: number | null }) {
  if (seconds === null) return <span className="text-muted">–</span>;
  return <span className="whitespace-nowrap">{formatDuration(seconds)}</span>;
}

/** The time since a start, updated every second. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  return <span className="whitespace-nowrap">{formatDuration(seconds)}</span>;
}

export function Money({ usd }: { usd: number | null }) {
  if (usd === null) return <span className="text-muted">–</span>;
  return <span className="whitespace-nowrap">{formatMoney(usd)}</span>;
}
