import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "@herdctl/protocol";
import type { FleetProvider } from "@herdctl/server/mcp";
import type { CommandContext } from "../command.ts";
import { findFleet, withFleet } from "../find-fleet.ts";
import { createStateReader } from "./state-reader.ts";

const reconnectTimeoutMs = 10_000;
const pollIntervalMs = 200;

/** Connects to the running fleet. If no fleet is running, reads are served from the state. */
export function createMcpFleetConnection(context: CommandContext): FleetProvider {
  return {
    async read(send) {
      const fleet = await findFleet(context);
      if (!fleet) return send(createStateReader(context));
      try {
        return await send(fleet);
      } catch (error) {
        if (!isFleetUnreachable(error)) throw error;
        return await send(createStateReader(context));
      } finally {
        fleet.close();
      }
    },
    async control(send) {
      const firstResult = await withFleet(context, (fleet) =>
        send(fleet).then(toAnswer, catchUnreachable),
      );
      if ("answer" in firstResult) return firstResult.answer;
      const deadline = Date.now() + reconnectTimeoutMs;
      for (;;) {
        await delay(pollIntervalMs);
        try {
          return await withFleet(context, send);
        } catch (error) {
          if (!isFleetUnreachable(error) || Date.now() > deadline) throw error;
        }
      }
    },
  };
}

function toAnswer<T>(answer: T): { answer: T } {
  return { answer };
}

/** A fleet that disappears during a request may be restarting. */
function catchUnreachable(error: unknown): { isUnreachable: true } {
  if (isFleetUnreachable(error)) return { isUnreachable: true };
  throw error;
}

function isFleetUnreachable(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}
