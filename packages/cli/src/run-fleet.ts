import { join } from "node:path";
import { type FleetLog, FleetManager, loadFleet, openFleetLog } from "@herdctl/core";
import { createApp, serveHooks, serveOnSocket } from "@herdctl/server";
import packageJson from "../package.json" with { type: "json" };
import type { Call } from "./command.ts";
import { fleetFileOf, socketOf } from "./fleet-access.ts";
import { type FleetView, openFleetView } from "./fleet-view.ts";
import { listenForStop } from "./stop-signals.ts";
import { drainTime } from "./until-stopped.ts";

/** The fleet process: a fleet, its door, its log, and whoever looks on. Resolves when it has stopped. */
export async function runFleet(call: Call): Promise<void> {
  const { env } = call;
  const { fleet, environment } = loadFleet(fleetFileOf(call), env);
  const log = openFleetLog({ folder: join(fleet.stateDir, "logs"), environment });
  const manager = new FleetManager({
    file: fleet.file,
    env,
    version: packageJson.version,
    onTrouble: (message, cause) => log.error(message, cause),
  });
  await manager.initialize();
  try {
    await serve(manager, socketOf(fleet.stateDir), log, call);
  } catch (error) {
    log.error("the fleet failed", error);
    await manager.shutdown({ detach: true });
    throw error;
  } finally {
    log.close();
  }
}

async function serve(fleet: FleetManager, socket: string, log: FleetLog, { terminal }: Call) {
  const view = openFleetView(terminal, () => fleet.status());
  const server = await serveOnSocket(createApp(fleet), socket);
  const hooks = await serveHooks(fleet, {
    onBug: (error) => log.error("a delivery met a bug", error),
  });
  const stop = listenForStop(() => void fleet.shutdown({ drainMs: drainTime }));
  void stop.forced.then(() => fleet.shutdown({ drainMs: 0 }));
  try {
    log.info("starting", {
      version: packageJson.version,
      socket,
      webhooks: fleet.webhooks.address,
    });
    const told = tell(fleet, view, log);
    const { reattached } = await fleet.start();
    view.begin(await fleet.status(), { socket, reattached: reattached.length });
    await told;
    await fleet.shutdown();
    log.info("stopped");
  } finally {
    stop.dispose();
    view.close();
    await hooks.stop();
    await server.stop();
  }
}

/** Passes on what happens until the fleet has stopped. */
async function tell(fleet: FleetManager, view: FleetView, log: FleetLog): Promise<void> {
  const over = new AbortController();
  for await (const event of fleet.events(over.signal)) {
    log.event(event);
    view.see(event);
    if (event.type !== "fleet:stopping") continue;
    view.stopping(Date.now() + drainTime);
    void fleet.shutdown().finally(() => over.abort());
  }
}
