import { UserError } from "@herdctl/protocol";

export function parseChoice<T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  const found = choices.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new UserError("usage", `"${text}" is not a valid ${name}`, {
    hint: `Use one of: ${choices.join(", ")}.`,
  });
}

/** A duration before now, such as `2h`, or a point in time. */
export async function parseSince(text: string | undefined, now: Date): Promise<Date | undefined> {
  return text === undefined ? undefined : parseTime(text, now, -1);
}

/** A duration from now, such as `30d`, or a point in time. */
export async function parseUntil(text: string | undefined, now: Date): Promise<Date | undefined> {
  return text === undefined ? undefined : parseTime(text, now, 1);
}

async function parseTime(text: string, now: Date, direction: 1 | -1): Promise<Date> {
  const { parseDuration } = await import("@herdctl/core/internal");
  const duration = parseDuration(text);
  const isDuration = typeof duration === "number";
  const time = isDuration ? now.getTime() + direction * duration : Date.parse(text);
  if (Number.isFinite(time)) return new Date(time);
  throw new UserError("usage", `"${text}" is not a duration or a point in time`, {
    hint: "Use a value such as `2h`, `7d` or `2026-03-01T09:00`.",
  });
}

/** `noun` names the entries: `jobs`, `records`. */
export function parseLimit(text: string, noun: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new UserError("usage", `"${text}" is not a number of ${noun}`, {
    hint: "Use a whole number from 1 to 1000.",
  });
}
