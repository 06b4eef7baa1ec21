import type { WebhookTarget } from "./webhook-schedule.ts";

/** How often something was refused since the fleet started; nothing else of it is kept. */
export interface Refusal {
  agent: string | null;
  schedule: string | null;
  reason: string;
  count: number;
}

export class Refusals {
  readonly #counts = new Map<string, Refusal>();

  /** Without a target for an address that does not exist: strangers must not be able to fill this. */
  count(target: WebhookTarget | undefined, reason: string): void {
    const { agent = null, schedule = null } = target ?? {};
    const name = JSON.stringify([agent, schedule, reason]);
    const known = this.#counts.get(name) ?? { agent, schedule, reason, count: 0 };
    this.#counts.set(name, { ...known, count: known.count + 1 });
  }

  list(): Refusal[] {
    return [...this.#counts.values()];
  }
}
