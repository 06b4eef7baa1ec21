import { join } from "node:path";
import {
  type FleetLog,
  FleetManager,
  identities,
  loadFleet,
  openFleetLog,
  UserError,
} from "@herdctl/core";
import { Access, createApp, serveOnSocket, servePort } from "@herdctl/server";
import packageJson from "../package.json" with { type: "json" };
import { chatPlatforms } from "./chat-platforms.ts";
import type { Call } from "./command.ts";
import { fleetFileOf, socketOf } from "./fleet-access.ts";
import { type FleetView, openFleetView } from "./fleet-view.ts";
import { nodeOptionsOf, rememberNodeOptions } from "./node-options.ts";
import type { BannerFacts } from "./show/fleet-banner.ts";
import { listenForStop } from "./stop-signals.ts";
import { drainTime } from "./until-stopped.ts";

/** The fleet process: a fleet, its door, its log, and whoever looks on. Resolves when it has stopped. */
export async function runFleet(call: Call): Promise<void> {
  const { env } = call;
  const loaded = loadFleet(fleetFileOf(call), env);
  const { fleet, environment } = loaded;
  const node = nodeOptionsOf(call, fleet);
  if (fleet.store !== undefined) rememberNodeOptions(fleet.stateDir, node);
  const log = openFleetLog({ folder: join(fleet.stateDir, "logs"), environment });
  const manager = new FleetManager({
    file: fleet.file,
    env,
    loaded,
    node,
    version: packageJson.version,
    chat: chatPlatforms,
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

async function serve(fleet: FleetManager, socket: string, log: FleetLog, call: Call) {
  const { terminal, options } = call;
  const view = openFleetView(terminal, () => fleet.status());
  const onBug = (error: unknown) => log.error("a request met a bug", error);
  const access = new Access(fleet);
  const app = createApp(fleet, { onBug, access });
  // A service is restarted without harm: what runs goes on, and the next fleet finds it.
  const isLeft = options.leaveJobs === true;
  const stop = listenForStop(
    () => void fleet.shutdown(isLeft ? { detach: true } : { drainMs: drainTime }),
  );
  void stop.forced.then(() => fleet.shutdown({ drainMs: 0 }));
  const server = await serveOnSocket(app, socket);
  const port = await servePort(fleet, app, access, { onBug });
  try {
    log.info("starting", {
      version: packageJson.version,
      socket,
      url: fleet.port.url,
    });
    const told = tell(fleet, view, log);
    // Where nobody looks, a code to sign in would only lie about.
    const link = terminal.live ? access.loginLink("admin", identities.user()) : undefined;
    await begin(fleet, view, { socket, link: link?.url, host: fleet.port.wanted.host });
    await told;
    await fleet.shutdown();
    log.info("stopped");
  } finally {
    stop.dispose();
    view.close();
    await port.stop();
    await server.stop();
  }
}

async function begin(
  fleet: FleetManager,
  view: FleetView,
  door: Omit<BannerFacts, "reattached">,
): Promise<void> {
  try {
    const { reattached } = await fleet.start();
    view.begin(await fleet.status(), { ...door, reattached: reattached.length });
  } catch (error) {
    // Somebody stopped it before it was up, which is no failure.
    const isStopped = error instanceof UserError && error.code === "fleet_unreachable";
    if (!isStopped) throw error;
  }
}

/** Passes on what happens until the fleet has stopped. */
async function tell(fleet: FleetManager, view: FleetView, log: FleetLog): Promise<void> {
  for await (const event of fleet.events(new AbortController().signal)) {
    log.event(event);
    view.see(event);
    if (event.type === "fleet:stopping") view.stopping(Date.now() + drainTime);
  }
}
