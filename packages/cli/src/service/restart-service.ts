import type { Call } from "../command.ts";
import { untilServiceAnswers } from "../until-service-answers.ts";
import { ownService } from "./own-service.ts";
import { serviceManager } from "./service-manager.ts";

/** Restarts the service that a fleet runs as; false when it runs by hand. */
export async function restartService(call: Call, fleetPid: number): Promise<boolean> {
  const { env, terminal } = call;
  const manager = serviceManager(undefined);
  const { service, facts } = ownService(call, manager);
  const look = () => manager.state(service.name, env);
  if (!service.installed || (await look()).pid !== fleetPid) return false;
  await manager.enable(service.name, service.file, env);
  const { pid } = await untilServiceAnswers(call, look, manager.logs(facts));
  const { green, bold, dim } = terminal.colors;
  if (terminal.json) terminal.printJson({ service: service.name, pid });
  else {
    terminal.print(`${green("●")} ${bold(service.name)} was restarted  ${dim(`pid ${pid}`)}`);
  }
  return true;
}
