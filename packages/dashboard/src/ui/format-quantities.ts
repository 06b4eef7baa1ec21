const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;

/** `850 ms`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${Math.floor(seconds * 10) / 10} s`;
  if (seconds < minuteSeconds) return `${Math.floor(seconds)} s`;
  if (seconds < hourSeconds) return formatTwoUnits(seconds, minuteSeconds, "min", 1, "s");
  return seconds < daySeconds
    ? formatTwoUnits(seconds, hourSeconds, "h", minuteSeconds, "min")
    : formatTwoUnits(seconds, daySeconds, "d", hourSeconds, "h");
}

export function formatDurationAxis(values: readonly number[]): string[] {
  return values.map((seconds) => (seconds === 0 ? "0" : formatDuration(seconds)));
}

const relativeUnits: [minSeconds: number, name: Intl.RelativeTimeFormatUnit][] = [
  [daySeconds, "day"],
  [hourSeconds, "hour"],
  [minuteSeconds, "minute"],
  [1, "second"],
];
const relativeFormat = new Intl.RelativeTimeFormat("en");

/** `3 minutes ago`, `in 2 hours`. */
export function formatAgo(from: number, now: number): string {
  const seconds = Math.round((from - now) / 1000);
  const distance = Math.abs(seconds);
  if (distance < 5) return "now";
  const [size, unit] = relativeUnits.find(([min]) => distance >= min) ?? [1, "second"];
  return relativeFormat.format(Math.sign(seconds) * Math.floor(distance / size), unit);
}

/** Four decimals below one cent, two above. */
export function formatMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Axis labels with as many decimals as tell them apart: `$0`, `$0.005`, `$0.010`. */
export function formatMoneyAxis(values: readonly number[]): string[] {
  const step = Math.abs((values[1] ?? 1) - (values[0] ?? 0));
  const decimals = step >= 1 || step === 0 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  const decimalsShown = decimals === 1 ? 2 : decimals;
  return values.map((usd) => (usd === 0 ? "$0" : `$${usd.toFixed(decimalsShown)}`));
}

/** `950`, `12.3k`, `4.5M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000
    ? `${formatOneDecimal(count / 1_000)}k`
    : `${formatOneDecimal(count / 1_000_000)}M`;
}

/** `1 job`, `950 jobs`, `12.3k jobs`. */
export function formatCountOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** `950 B`, `12.3 kB`, `4.5 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${formatOneDecimal(bytes / 1_000)} kB`
    : `${formatOneDecimal(bytes / 1_000_000)} MB`;
}

function formatTwoUnits(
  seconds: number,
  big: number,
  bigName: string,
  small: number,
  smallName: string,
) {
  const rest = Math.floor((seconds % big) / small);
  const head = `${Math.floor(seconds / big)} ${bigName}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

function formatOneDecimal(value: number): string {
  return value < 100 ? String(Math.floor(value * 10) / 10) : String(Math.floor(value));
}
