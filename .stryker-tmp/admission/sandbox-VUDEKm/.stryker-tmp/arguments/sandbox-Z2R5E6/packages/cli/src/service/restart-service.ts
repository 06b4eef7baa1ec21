import type { CommandContext } from "../command.ts";
import { waitForService } from "../wait-for-service.ts";
import { loadOwnService } from "./load-own-service.ts";
import { selectServiceManager } from "./select-service-manager.ts";

/** Restarts the service that the fleet runs as. Returns false if it does not run as a service. */
export async function restartService(context: CommandContext, fleetPid: number): Promise<boolean> {
  const { env, terminal } = context;
  const manager = selectServiceManager(undefined);
  const { service, facts } = loadOwnService(context, manager);
  const readServiceState = () => manager.readState(service.name, env);
  if (!service.isInstalled || (await readServiceState()).pid !== fleetPid) return false;
  await manager.enable(service.name, service.file, env);
  const { pid } = await waitForService(context, readServiceState, manager.logsCommand(facts));
  const { green, bold, dim } = terminal.colors;
  if (terminal.isJson) terminal.printJson({ service: service.name, pid });
  else {
    terminal.print(`${green("●")} ${bold(service.name)} was restarted  ${dim(`pid ${pid}`)}`);
  }
  return true;
}
