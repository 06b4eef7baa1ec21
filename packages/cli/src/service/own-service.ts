import { basename, dirname } from "node:path";
import { loadFleet, UserError } from "@herdctl/core";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import type { ServiceManager } from "./contract.ts";
import { factsOf, fleetService } from "./fleet-service.ts";

/** The service of the fleet here. It is found though the configuration be wrong. */
export function ownService(call: Call, manager: ServiceManager) {
  const file = fleetFileOf(call);
  const fleet = { name: nameOf(file, call.env), file };
  const service = fleetService(manager, fleet, call.env);
  return { service, facts: factsOf(service, fleet, call.env) };
}

function nameOf(file: string, env: NodeJS.ProcessEnv): string {
  try {
    return loadFleet(file, env).fleet.fleet.name;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return basename(dirname(file));
  }
}
