import type { LiveJob } from "../state/job.ts";

export interface ClaimLimits {
  /** `max_concurrent` of the fleet. */
  fleet: number | undefined;
  /** `max_concurrent` by agent. Jobs of an agent that is not here stay where they are. */
  agents: ReadonlyMap<string, number>;
  paused: ReadonlySet<string>;
  /** When each agent last got a job started, in any unit that grows; absent means never. */
  servedAt: ReadonlyMap<string, number>;
  /** Nothing starts before this, whoever wants to. */
  notBefore?: Date;
}

/** Which jobs to start now, in this order. */
export function claim(_snapshot: readonly LiveJob[], _limits: ClaimLimits, _now: Date): string[] {
  return [];
}

/** When there may be something to claim that there is not now; undefined if only an event can bring it. */
export function nextDue(
  _snapshot: readonly LiveJob[],
  _limits: Pick<ClaimLimits, "notBefore">,
  _now: Date,
): Date | undefined {
  return undefined;
}
