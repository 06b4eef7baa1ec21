import { createHash } from "node:crypto";
import type { DueTimes } from "./due-times.ts";

/** How far starts are spread, and by what name: the same due time always starts at the same moment. */
export interface Jitter {
  within: number;
  name: string;
}

/** When a due time is run. It never overtakes the next one, however far starts are spread. */
export function startOf(due: number, times: DueTimes, jitter: Jitter | undefined): number {
  if (!jitter) return due;
  const next = times.after(due) ?? Number.POSITIVE_INFINITY;
  const room = Math.min(jitter.within, next - due);
  return due + Math.floor(fraction(`${jitter.name} ${due}`) * room);
}

/** Between 0 and 1, without 1. */
function fraction(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
