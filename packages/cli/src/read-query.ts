import { UserError } from "@herdctl/core/light";

export function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  const found = known.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new UserError("usage", `"${text}" is no ${name}`, { hint: `One of: ${known.join(", ")}.` });
}

/** `2h` back from now, or a point in time. */
export async function sinceOf(text: string | undefined, now: Date): Promise<Date | undefined> {
  return text === undefined ? undefined : timeOf(text, now, -1);
}

/** `30d` from now, or a point in time. */
export async function untilOf(text: string | undefined, now: Date): Promise<Date | undefined> {
  return text === undefined ? undefined : timeOf(text, now, 1);
}

async function timeOf(text: string, now: Date, direction: 1 | -1): Promise<Date> {
  const { parseDuration } = await import("@herdctl/core");
  const duration = parseDuration(text);
  const isDuration = typeof duration === "number";
  const time = isDuration ? now.getTime() + direction * duration : Date.parse(text);
  if (Number.isFinite(time)) return new Date(time);
  throw new UserError("usage", `"${text}" is neither a duration nor a point in time`, {
    hint: "Write `2h`, `7d` or `2026-03-01T09:00`.",
  });
}

/** `what` is counted: `jobs`, `records`. */
export function limitOf(text: string, what: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new UserError("usage", `"${text}" is not a number of ${what}`, { hint: "Give 1 to 1000." });
}
