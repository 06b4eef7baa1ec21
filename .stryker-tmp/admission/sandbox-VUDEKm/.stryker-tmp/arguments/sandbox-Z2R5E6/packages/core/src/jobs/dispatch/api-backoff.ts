import type { OutcomeCode } from "@herdctl/protocol";

/** The pause of the whole fleet while the API is overloaded. */
export interface BackoffState {
  delayMs: number;
  until: Date;
}

const minDelayMs = 5_000;
const maxDelayMs = 5 * 60_000;

/**
 * The backoff after a run has ended. Runs that were in progress when the pause began do not count;
 * only a run that fails after the pause doubles it.
 */
export function nextBackoff(
  previous: BackoffState | undefined,
  outcome: OutcomeCode,
  now: Date,
): BackoffState | undefined {
  if (outcome === "success" || outcome === "finished_with_denials") return undefined;
  if (outcome !== "overloaded" || (previous && now < previous.until)) return previous;
  const delayMs =
    previous && !isStale(previous, now)
      ? Math.min(maxDelayMs, /* defence: overload-backoff */ previous.delayMs * 2)
      : minDelayMs;
  return { delayMs, until: new Date(now.getTime() + delayMs) };
}

/** A pause that ended longer ago than the maximum delay belongs to an earlier overload. */
function isStale({ until }: BackoffState, now: Date): boolean {
  return now.getTime() - until.getTime() > maxDelayMs;
}

/** The backoff in force, for all runs of this process. */
export class ApiBackoff {
  private current: BackoffState | undefined;

  get until(): Date | undefined {
    return this.current?.until;
  }

  onOutcome(code: OutcomeCode): void {
    this.current = nextBackoff(this.current, code, new Date());
  }
}
