import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { FleetManager } from "@herdctl/core";
import { type FleetLog, identities, openFleetLog } from "@herdctl/core/internal";
import { UserError } from "@herdctl/protocol";
import { Authenticator, createApp, serveHttp, serveOnSocket } from "@herdctl/server";
import packageJson from "../package.json" with { type: "json" };
import { chatPlatforms } from "./chat-platforms.ts";
import type { CommandContext } from "./command.ts";
import { fleetSocketPath, resolveFleetFile } from "./find-fleet.ts";
import { createFleetReporter, type FleetReporter } from "./fleet-reporter.ts";
import { parseNodeOptions, saveNodeOptions } from "./node-options.ts";
import type { BannerInfo } from "./render/fleet-banner.ts";
import { listWarnings, warningLines } from "./render/warning-lines.ts";
import { drainTimeoutMs } from "./stop-and-wait.ts";
import { listenForStopSignals } from "./stop-signals.ts";

/** Runs the fleet process with its servers, log and terminal output. Resolves when it has stopped. */
export async function runFleet(context: CommandContext): Promise<void> {
  const { env } = context;
  const loaded = loadFleet(resolveFleetFile(context), env);
  const { fleet, environment } = loaded;
  for (const line of warningLines(listWarnings(loaded, context.cwd), context.terminal.colors))
    context.terminal.printNote(line);
  const node = parseNodeOptions(context, fleet);
  if (fleet.store !== undefined) saveNodeOptions(fleet.stateDir, node);
  const log = openFleetLog({ folder: join(fleet.stateDir, "logs"), environment });
  const manager = new FleetManager({
    file: fleet.file,
    env,
    loaded,
    node,
    chat: chatPlatforms,
    onError: (message, cause) => log.error(message, cause),
  });
  await manager.initialize();
  try {
    await serveFleet(manager, fleetSocketPath(fleet.stateDir), log, context);
  } catch (error) {
    log.error("the fleet failed", error);
    await manager.shutdown({ detach: true });
    throw error;
  } finally {
    log.close();
  }
}

async function serveFleet(
  fleet: FleetManager,
  socket: string,
  log: FleetLog,
  context: CommandContext,
) {
  const { terminal, options } = context;
  const reporter = createFleetReporter(terminal, () => fleet.status());
  const onBug = (error: unknown) => log.error("a request failed unexpectedly", error);
  const access = new Authenticator(fleet);
  const app = createApp(fleet, { onBug, authenticator: access });
  // A service can be restarted at any time: running jobs continue and the next fleet adopts them.
  const shouldDetach = options.leaveJobs === true;
  const stop = listenForStopSignals(
    () => void fleet.shutdown(shouldDetach ? { detach: true } : { drainMs: drainTimeoutMs }),
  );
  void stop.forced.then(() => fleet.shutdown({ drainMs: 0 }));
  const server = await serveOnSocket(app, socket);
  const port = await serveHttp(fleet, app, access, { onBug });
  try {
    log.info("starting", {
      version: packageJson.version,
      socket,
      url: fleet.http.url,
    });
    const forwarding = forwardEvents(fleet, reporter, log);
    // A login link in a log file would be a secret at rest: create one only for a terminal.
    const link = terminal.canRedraw
      ? access.createLoginLink("admin", identities.user())
      : undefined;
    await startFleet(fleet, reporter, {
      socket,
      loginUrl: link?.url,
      host: fleet.http.serverOptions.host,
    });
    await forwarding;
    await fleet.shutdown();
    log.info("stopped");
  } catch (error) {
    // Before the servers stop, because they wait for clients that wait for the fleet.
    await fleet.shutdown({ detach: true });
    throw error;
  } finally {
    stop.dispose();
    reporter.close();
    await port.stop();
    await server.stop();
  }
}

async function startFleet(
  fleet: FleetManager,
  reporter: FleetReporter,
  address: Omit<BannerInfo, "reattached">,
): Promise<void> {
  try {
    const { reattached } = await fleet.start();
    reporter.onStarted(await fleet.status(), { ...address, reattached: reattached.length });
  } catch (error) {
    // Stopped before it had started: not an error.
    const isStopped = error instanceof UserError && error.code === "fleet_unreachable";
    if (!isStopped) throw error;
  }
}

/** Forwards events to the log and the terminal until the fleet has stopped. */
async function forwardEvents(
  fleet: FleetManager,
  reporter: FleetReporter,
  log: FleetLog,
): Promise<void> {
  for await (const event of fleet.events()) {
    log.event(event);
    reporter.onEvent(event);
    if (event.type === "fleet:stopping") reporter.onStopping(Date.now() + drainTimeoutMs);
  }
}
