import { rmSync } from "node:fs";
import type { ServiceManager } from "./contract.ts";
import type { FleetService } from "./fleet-service.ts";
import type { ServiceSpec } from "./service-spec.ts";

/** Stops the service and deletes its files. */
export async function removeService(
  manager: ServiceManager,
  service: FleetService,
  facts: Pick<ServiceSpec, "environmentFile">,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  await manager.assertAvailable(env);
  await manager.disable(service.name, service.file, env);
  for (const file of [service.file, facts.environmentFile]) rmSync(file, { force: true });
}
