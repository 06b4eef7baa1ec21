import { UserError } from "@herdctl/core/light";
import type { Call } from "./command.ts";
import { type FleetClient, findFleet } from "./fleet-access.ts";

const patience = 30_000;
const lookEvery = 100;

/** The way to a fleet that may be restarted meanwhile: then the next one is asked the same. */
export class FleetLine {
  constructor(
    private readonly call: Call,
    private fleet: FleetClient,
  ) {}

  async ask<T>(question: (fleet: FleetClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await question(this.fleet);
      } catch (error) {
        if (!isGone(error) || signal?.aborted) throw error;
        this.fleet = await this.next(error, signal);
      }
    }
  }

  close(): void {
    this.fleet.close();
  }

  private async next(error: unknown, signal: AbortSignal | undefined): Promise<FleetClient> {
    this.fleet.close();
    const deadline = Date.now() + patience;
    while (Date.now() < deadline && !signal?.aborted) {
      const found = await findFleet(this.call).catch(() => undefined);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, lookEvery));
    }
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}
