import { useNow } from "./now.ts";
import { agoWords, durationWords, moneyWords } from "./quantities.ts";

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** How long ago, or in how long; the exact time for whoever points at it. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)} className="whitespace-nowrap">
      {agoWords(date.getTime(), now)}
    </time>
  );
}

/** The time itself, as the browser's owner writes it. */
export function Time({ at, style = exact }: { at: string; style?: Intl.DateTimeFormat }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)} className="whitespace-nowrap">
      {style.format(date)}
    </time>
  );
}

export function Duration({ seconds }: { seconds: number | null }) {
  if (seconds === null) return <span className="text-muted">–</span>;
  return <span className="whitespace-nowrap">{durationWords(seconds)}</span>;
}

/** Of something that still goes on. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  return <span className="whitespace-nowrap">{durationWords(seconds)}</span>;
}

export function Money({ usd }: { usd: number | null }) {
  if (usd === null) return <span className="text-muted">–</span>;
  return <span className="whitespace-nowrap">{moneyWords(usd)}</span>;
}
