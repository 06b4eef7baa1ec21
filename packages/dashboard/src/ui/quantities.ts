const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** `850 ms`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function durationWords(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${Math.floor(seconds * 10) / 10} s`;
  if (seconds < minute) return `${Math.floor(seconds)} s`;
  if (seconds < hour) return inTwo(seconds, minute, "min", 1, "s");
  return seconds < day
    ? inTwo(seconds, hour, "h", minute, "min")
    : inTwo(seconds, day, "d", hour, "h");
}

/** `3 min ago`, `in 2 h`; whole units only, as it is read at a glance. */
export function agoWords(from: number, now: number): string {
  const seconds = Math.round((now - from) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return "now";
  const [unit, name] =
    size < minute
      ? [1, "s"]
      : size < hour
        ? [minute, "min"]
        : size < day
          ? [hour, "h"]
          : [day, "d"];
  const words = `${Math.floor(size / Number(unit))} ${name}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** Four digits below a cent, two above. */
export function moneyWords(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `950`, `12.3 k`, `4.5 M`. */
export function countWords(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${trimmed(count / 1_000)} k` : `${trimmed(count / 1_000_000)} M`;
}

function inTwo(seconds: number, big: number, bigName: string, small: number, smallName: string) {
  const rest = Math.floor((seconds % big) / small);
  const head = `${Math.floor(seconds / big)} ${bigName}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

function trimmed(value: number): string {
  return value < 100 ? String(Math.floor(value * 10) / 10) : String(Math.floor(value));
}
