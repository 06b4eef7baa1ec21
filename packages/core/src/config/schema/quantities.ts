import { z } from "zod";
import { meaningful, Wrong } from "./wrong.ts";

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const durationHint = "Write a number and a unit, such as `30s`, `5m`, `24h` or `7d`.";

/** `5m`, `1h30m`, `500ms`, never nothing; milliseconds inside. */
export const duration = meaningful(z.number(), parseDuration, formatDuration, ["30s", "5m", "24h"]);

/** The same, or no time at all. */
export const durationOrNone = meaningful(z.number(), readDuration, formatDuration, ["0s", "10m"]);

/** The same, up to a bound. */
export function durationUpTo(most: number) {
  const read = (text: string) => {
    const value = parseDuration(text);
    if (value instanceof Wrong || value <= most) return value;
    const longest = formatDuration(most);
    return new Wrong(`"${text}" is longer than ${longest}`, `Write at most \`${longest}\`.`);
  };
  return meaningful(z.number(), read, formatDuration, ["5m", "30m"]);
}

export function parseDuration(text: string): number | Wrong {
  const value = readDuration(text);
  return value === 0 ? new Wrong(`"${text}" is no time at all`, "Write more than zero.") : value;
}

function readDuration(text: string): number | Wrong {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const whole = parts.map((part) => part[0]).join("");
  if (parts.length === 0 || whole !== text.trim()) {
    return new Wrong(`"${text}" is not a duration`, durationHint);
  }
  const total = parts.reduce((sum, [, amount, unit]) => {
    return sum + Number(amount) * durationUnits[unit as keyof typeof durationUnits];
  }, 0);
  if (total > Number.MAX_SAFE_INTEGER) return new Wrong(`"${text}" is too long`, durationHint);
  return Math.round(total);
}

/** In the unit that people would choose: `24h` and not `1d`, `60s` and not `1m`. */
function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return "0s";
  const fitting = Object.entries(durationUnits)
    .reverse()
    .find(([unit, size]) => {
      const least = unit === "d" || unit === "m" ? 2 * size : size;
      return milliseconds >= least && milliseconds % size === 0;
    });
  return fitting ? `${milliseconds / fitting[1]}${fitting[0]}` : `${milliseconds}ms`;
}

const sizeUnits = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 } as const;
const sizeHint = "Write a number and a unit, such as `512m` or `2g`.";

/** `512m`, `2g`, `1.5g`; bytes inside. */
export const size = meaningful(z.number(), parseSize, formatSize, ["512m", "2g"]);

function parseSize(text: string): number | Wrong {
  const match = /^(\d+(?:\.\d+)?)([kmgt])(?:i?b)?$/i.exec(text.trim());
  if (!match) return new Wrong(`"${text}" is not a size`, sizeHint);
  const unit = (match[2] ?? "m").toLowerCase() as keyof typeof sizeUnits;
  return Math.round(Number(match[1]) * sizeUnits[unit]);
}

function formatSize(bytes: number): string {
  const fitting = Object.entries(sizeUnits)
    .reverse()
    .find(([, unit]) => bytes >= unit && bytes % unit === 0);
  return fitting ? `${bytes / fitting[1]}${fitting[0]}` : `${bytes / sizeUnits.k}k`;
}

export const usd = z.number().positive();
export const count = z.int().positive();
