import { z } from "zod";

/** A day as the fleet's time zone counts it. */
export interface Day {
  /** Such as `2026-03-01`. */
  name: string;
  start: Date;
}

/** The day where nobody says in which time zone days are counted. */
export function dayInUtc(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export const amountsSchema = z.object({
  usd: z.number().nonnegative(),
  jobs: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
});
export type Amounts = z.infer<typeof amountsSchema>;

export const nothing: Amounts = { usd: 0, jobs: 0, tokens: 0 };

/** What an agent, or the whole fleet, has spent of a day. */
export interface Spent extends Amounts {
  /** Held for jobs that are not over, beyond what they have cost already. */
  reserved_usd: number;
  /** By how much its limits were raised for this day. */
  raised: Amounts;
}

/** By agent; what was raised for the fleet as a whole stands apart. */
export interface Spending {
  agents: ReadonlyMap<string, Spent>;
  fleet: Spent;
}
