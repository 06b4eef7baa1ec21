import { z } from "zod";
import { InvalidValue, textCodec } from "./codec.ts";

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const durationHint = "Write a number and a unit, such as `30s`, `5m`, `24h` or `7d`.";

/** Positive durations such as `5m`, `1h30m` or `500ms`, decoded to milliseconds. */
export const duration = textCodec(z.number(), parseDuration, formatDuration, ["30s", "5m", "24h"]);

/** A duration that may be zero. */
export const durationOrNone = textCodec(z.number(), parseDurationOrZero, formatDuration, [
  "0s",
  "10m",
]);

/** A duration with an upper limit. */
export function durationUpTo(maxMs: number) {
  const parse = (text: string) => {
    const value = parseDuration(text);
    if (value instanceof InvalidValue || value <= maxMs) return value;
    const maxText = formatDuration(maxMs);
    return new InvalidValue(`"${text}" is longer than ${maxText}`, `Write at most \`${maxText}\`.`);
  };
  return textCodec(z.number(), parse, formatDuration, ["5m", "30m"]);
}

export function parseDuration(text: string): number | InvalidValue {
  const value = parseDurationOrZero(text);
  return value === 0
    ? new InvalidValue(`"${text}" is not a positive duration`, "Write more than zero.")
    : value;
}

function parseDurationOrZero(text: string): number | InvalidValue {
  const matches = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const whole = matches.map((part) => part[0]).join("");
  if (matches.length === 0 || whole !== text.trim()) {
    return new InvalidValue(`"${text}" is not a duration`, durationHint);
  }
  const total = matches.reduce((sum, [, amount, unit]) => {
    return sum + Number(amount) * durationUnits[unit as keyof typeof durationUnits];
  }, 0);
  if (total > Number.MAX_SAFE_INTEGER)
    return new InvalidValue(`"${text}" is too long`, durationHint);
  return Math.round(total);
}

/** Uses the unit that people would choose: `24h` instead of `1d`, `60s` instead of `1m`. */
function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return "0s";
  const unitMatch = Object.entries(durationUnits)
    .reverse()
    .find(([unit, size]) => {
      const least = unit === "d" || unit === "m" ? 2 * size : size;
      return milliseconds >= least && milliseconds % size === 0;
    });
  return unitMatch ? `${milliseconds / unitMatch[1]}${unitMatch[0]}` : `${milliseconds}ms`;
}

const sizeUnits = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 } as const;
const sizeHint = "Write a number and a unit, such as `512m` or `2g`.";

/** Sizes such as `512m`, `2g` or `1.5g`, decoded to bytes. */
export const size = textCodec(z.number(), parseSize, formatSize, ["512m", "2g"]);

function parseSize(text: string): number | InvalidValue {
  const match = /^(\d+(?:\.\d+)?)([kmgt])(?:i?b)?$/i.exec(text.trim());
  if (!match) return new InvalidValue(`"${text}" is not a size`, sizeHint);
  const unit = (match[2] ?? "m").toLowerCase() as keyof typeof sizeUnits;
  return Math.round(Number(match[1]) * sizeUnits[unit]);
}

function formatSize(bytes: number): string {
  const unitMatch = Object.entries(sizeUnits)
    .reverse()
    .find(([, unit]) => bytes >= unit && bytes % unit === 0);
  return unitMatch ? `${bytes / unitMatch[1]}${unitMatch[0]}` : `${bytes / sizeUnits.k}k`;
}

export const usd = z.number().positive();
export const count = z.int().positive();
