const [secondsPerMinute, secondsPerHour, secondsPerDay] = [60, 3_600, 86_400];

/** `0.4 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < secondsPerMinute) return `${whole} s`;
  if (whole < secondsPerHour) return formatTwoUnits(whole, secondsPerMinute, "min", 1, "s");
  if (whole < secondsPerDay)
    return formatTwoUnits(whole, secondsPerHour, "h", secondsPerMinute, "min");
  return formatTwoUnits(whole, secondsPerDay, "d", secondsPerHour, "h");
}

/** In whole seconds, for a running clock. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 10 ? `${seconds} s` : formatDuration(seconds);
}

/** `42 s`, `5 min`, `3 d`. */
export function formatAge(time: string, now: Date): string {
  const seconds = Math.max(0, now.getTime() - Date.parse(time)) / 1000;
  const [size, name] = ageUnits.find(([minSeconds]) => seconds >= minSeconds) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}

/** Four decimals below one dollar, because most runs cost little. */
export function formatCost(usd: number): string {
  return `$${usd >= 1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

/** `812 B`, `12 KB`, `3.4 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, name] = bytes < 1024 ** 2 ? [1024, "KB"] : [1024 ** 2, "MB"];
  const amount = bytes / size;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${name}`;
}

export function formatCount(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? noun : plural}`;
}

const ageUnits: [size: number, name: string][] = [
  [secondsPerDay, "d"],
  [secondsPerHour, "h"],
  [secondsPerMinute, "min"],
];

function formatTwoUnits(
  whole: number,
  size: number,
  name: string,
  smallUnitSize: number,
  smallName: string,
): string {
  const rest = Math.floor((whole % size) / smallUnitSize);
  const major = `${Math.floor(whole / size)} ${name}`;
  return rest === 0 ? major : `${major} ${rest} ${smallName}`;
}
