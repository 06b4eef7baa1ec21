import { UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { type FleetClient, findFleet } from "./find-fleet.ts";

const reconnectTimeoutMs = 30_000;
const pollIntervalMs = 100;

/** Repeats a request with the next fleet process if the fleet is restarted during the request. */
export class ReconnectingFleetClient {
  constructor(
    private readonly context: CommandContext,
    private fleet: FleetClient,
  ) {}

  async request<T>(send: (fleet: FleetClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await send(this.fleet);
      } catch (error) {
        if (!isFleetUnreachable(error) || signal?.aborted) throw error;
        this.fleet = await this.reconnect(error, signal);
      }
    }
  }

  close(): void {
    this.fleet.close();
  }

  private async reconnect(error: unknown, signal: AbortSignal | undefined): Promise<FleetClient> {
    this.fleet.close();
    const deadline = Date.now() + reconnectTimeoutMs;
    while (Date.now() < deadline && !signal?.aborted) {
      const found = await findFleet(this.context).catch(() => undefined);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    }
    throw error;
  }
}

function isFleetUnreachable(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}
