import type { ResolvedAgent } from "../config/resolve.ts";

export type Limits = ResolvedAgent["timeouts"];

/** What the clocks of a run look at; all times in milliseconds. */
export interface ClockState {
  startedAt: number;
  initSeen: boolean;
  lastSignOfLife: number;
  /** A tool may be silent for long, and so may a person: while one is awaited nothing stalls. */
  paused: boolean;
}

export type ClockVerdict =
  | { kind: "in_time"; lookAgainIn: number }
  | { kind: "overdue"; limit: "start_timeout" | "stalled" | "timeout" };

export function readClock(state: ClockState, limits: Limits, now: number): ClockVerdict {
  const wall = state.startedAt + limits.wall - now;
  if (wall <= 0) return { kind: "overdue", limit: "timeout" };
  if (!state.initSeen) {
    const start = state.startedAt + limits.start - now;
    if (start <= 0) return { kind: "overdue", limit: "start_timeout" };
    return { kind: "in_time", lookAgainIn: Math.min(wall, start) };
  }
  const stall = state.lastSignOfLife + limits.stall - now;
  if (state.paused) return { kind: "in_time", lookAgainIn: Math.min(wall, limits.stall) };
  if (stall <= 0) return { kind: "overdue", limit: "stalled" };
  return { kind: "in_time", lookAgainIn: Math.min(wall, stall) };
}
