import type { ShutdownOptions } from "@herdctl/core";
import { stateDirOf } from "@herdctl/core/light";
import type { Call } from "./command.ts";
import { type FleetClient, fleetFileOf } from "./fleet-access.ts";
import { drainText } from "./show/fleet-footer.ts";
import { harmlessAll } from "./show/harmless.ts";
import { liveScreen } from "./show/screen.ts";
import { cut } from "./show/width.ts";

/** How long jobs have to come to their end before a fleet that stops cancels them. */
export const drainTime = 80_000;

const lookEvery = 100;

/** Asks a fleet to stop and shows what it waits for, until nothing of it is left. */
export async function untilStopped(
  call: Call,
  fleet: FleetClient,
  options: ShutdownOptions,
): Promise<void> {
  const { lockHolder } = await import("@herdctl/core/state");
  const stateDir = stateDirOf(fleetFileOf(call));
  const holder = lockHolder(stateDir);
  const waiting = showWaiting(call, fleet, Date.now() + (options.drainMs ?? drainTime));
  try {
    await fleet.shutdown(options);
    while (holder && lockHolder(stateDir)?.pid === holder.pid) {
      await new Promise((resolve) => setTimeout(resolve, lookEvery));
    }
  } finally {
    waiting.close();
  }
}

function showWaiting({ terminal }: Call, fleet: FleetClient, deadline: number): { close(): void } {
  if (!terminal.live) return { close: () => undefined };
  const screen = liveScreen(terminal.write);
  const look = async () => {
    const text = drainText(harmlessAll(await fleet.status()), deadline, new Date());
    if (timer) screen.show([], [terminal.colors.yellow(cut(`■ ${text}`, terminal.columns ?? 80))]);
  };
  let timer: NodeJS.Timeout | undefined;
  timer = setInterval(() => void look().catch(() => undefined), lookEvery);
  return {
    close: () => {
      clearInterval(timer);
      timer = undefined;
      screen.close();
    },
  };
}
