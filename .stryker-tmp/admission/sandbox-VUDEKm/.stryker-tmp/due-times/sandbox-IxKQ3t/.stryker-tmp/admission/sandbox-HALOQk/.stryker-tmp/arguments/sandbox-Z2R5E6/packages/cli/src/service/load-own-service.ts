import { basename, dirname } from "node:path";
import { loadFleet } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import type { ServiceManager } from "./contract.ts";
import { createServiceSpec, locateFleetService } from "./fleet-service.ts";

/** The service of this fleet. Works even if the configuration is invalid. */
export function loadOwnService(context: CommandContext, manager: ServiceManager) {
  const file = resolveFleetFile(context);
  const fleet = { name: fleetName(file, context.env), file };
  const service = locateFleetService(manager, fleet, context.env);
  return { service, facts: createServiceSpec(service, fleet, context.env) };
}

function fleetName(file: string, env: NodeJS.ProcessEnv): string {
  try {
    return loadFleet(file, env).fleet.fleet.name;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return basename(dirname(file));
  }
}
