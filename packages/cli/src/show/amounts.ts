const [minute, hour, day] = [60, 3_600, 86_400];

/** `0.4 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < minute) return `${whole} s`;
  if (whole < hour) return pair(whole, minute, "min", 1, "s");
  if (whole < day) return pair(whole, hour, "h", minute, "min");
  return pair(whole, day, "d", hour, "h");
}

/** In whole steps, for a clock that ticks. */
export function elapsedText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 10 ? `${seconds} s` : durationText(seconds);
}

/** `42 s`, `5 min`, `3 d`. */
export function ageText(time: string, now: Date): string {
  const seconds = Math.max(0, now.getTime() - Date.parse(time)) / 1000;
  const [size, name] = ageUnits.find(([least]) => seconds >= least) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}

/** Cents and below are shown too: most runs cost little. */
export function costText(usd: number): string {
  return `$${usd >= 1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

/** `812 B`, `12 KB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, name] = bytes < 1024 ** 2 ? [1024, "KB"] : [1024 ** 2, "MB"];
  const amount = bytes / size;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${name}`;
}

export function countText(amount: number, thing: string): string {
  return `${amount.toLocaleString("en")} ${thing}${amount === 1 ? "" : "s"}`;
}

const ageUnits: [size: number, name: string][] = [
  [day, "d"],
  [hour, "h"],
  [minute, "min"],
];

function pair(whole: number, size: number, name: string, small: number, smallName: string): string {
  const rest = Math.floor((whole % size) / small);
  const major = `${Math.floor(whole / size)} ${name}`;
  return rest === 0 ? major : `${major} ${rest} ${smallName}`;
}
