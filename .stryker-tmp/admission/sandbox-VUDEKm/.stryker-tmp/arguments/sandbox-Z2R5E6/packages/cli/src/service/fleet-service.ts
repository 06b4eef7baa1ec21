import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateDirOf, UserError } from "@herdctl/protocol";
import type { ServiceManager } from "./contract.ts";
import type { ServiceSpec } from "./service-spec.ts";

/** The service of a fleet, whether or not it is installed. */
export interface FleetService {
  name: string;
  /** The service definition. */
  file: string;
  isInstalled: boolean;
}

/** Identifies the service by the fleet file, because fleets can be renamed and share a name. */
export function locateFleetService(
  manager: ServiceManager,
  fleet: { name: string; file: string },
  env: NodeJS.ProcessEnv,
): FleetService {
  const folder = manager.definitionDir(env);
  const existingFiles = existsSync(folder) ? readdirSync(folder) : [];
  const ownFile = existingFiles.find(
    (file) =>
      file.startsWith(servicePrefix) &&
      file.endsWith(manager.fileSuffix) &&
      manager.belongsToFleet(readFileSync(join(folder, file), "utf8"), fleet.file),
  );
  const freeName = candidateNames(fleet.name).find(
    (name) => !existingFiles.includes(name + manager.fileSuffix),
  );
  const name = ownFile
    ? ownFile.slice(0, -manager.fileSuffix.length)
    : (freeName ?? `${servicePrefix}${fleet.name}`);
  return {
    name,
    file: join(folder, name + manager.fileSuffix),
    isInstalled: ownFile !== undefined,
  };
}

export function createServiceSpec(
  { name }: Pick<FleetService, "name">,
  fleet: { name: string; file: string },
  env: NodeJS.ProcessEnv,
): ServiceSpec {
  const stateDir = stateDirOf(fleet.file);
  return {
    name,
    fleet: fleet.name,
    fleetFile: fleet.file,
    fleetDir: dirname(fleet.file),
    environmentFile: join(stateDir, "service.env"),
    logDir: join(stateDir, "logs"),
    searchPath: env.PATH ?? "",
    nodePath: process.execPath,
    scriptPath: ownScriptPath(),
  };
}

const servicePrefix = "herdctl-";
const maxNames = 100;

function candidateNames(fleet: string): string[] {
  const numberedNames = Array.from(
    { length: maxNames },
    (_, index) => `${servicePrefix}${fleet}-${index + 2}`,
  );
  return [`${servicePrefix}${fleet}`, ...numberedNames];
}

function ownScriptPath(): string {
  const script = realpathSync(process.argv[1] ?? "");
  if (!script.includes("/_npx/")) return script;
  throw new UserError(
    "service_unavailable",
    "this herdctl was started by npx, which keeps it only in a temporary folder",
    { hint: "Install it with `npm install -g herdctl`, then run `herdctl service install`." },
  );
}
