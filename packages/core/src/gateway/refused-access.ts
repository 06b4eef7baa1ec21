import type { RefusedHost } from "./egress/traffic.ts";
import type { MeterSnapshot } from "./meter.ts";

/** One line of a job's record: what the agent asked for in vain, and what would let it pass. */
export interface RefusedAccess {
  /** `registry.example.com:443`, or `POST /v1/files`. */
  what: string;
  reason: string;
  remedy?: string;
  count: number;
}

/** What both doors of a run turned away, the same things told once. */
export function refusedAccess(
  api: Pick<MeterSnapshot, "refusals"> | undefined,
  hosts: readonly RefusedHost[],
): RefusedAccess[] {
  const all = new Map<string, RefusedAccess>();
  for (const { method, target, reason, remedy } of api?.refusals ?? []) {
    const what = `${method} ${target.split("?")[0]}`;
    const key = `${what} ${reason}`;
    const known = all.get(key);
    all.set(key, { what, reason, remedy, count: (known?.count ?? 0) + 1 });
  }
  return [
    ...all.values(),
    ...hosts.map(({ host, port, reason, remedy, count }) => ({
      what: `${host}:${port}`,
      reason,
      remedy,
      count,
    })),
  ];
}
