import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateDirOf, UserError } from "@herdctl/core/light";
import type { ServiceManager } from "./contract.ts";
import type { ServiceFacts } from "./service-facts.ts";

/** Where the service of a fleet is, or would be. */
export interface FleetService {
  name: string;
  /** The file that describes it to the system. */
  file: string;
  installed: boolean;
}

/** A fleet is known by its file, so it may change its name, and another may have the same. */
export function fleetService(
  manager: ServiceManager,
  fleet: { name: string; file: string },
  env: NodeJS.ProcessEnv,
): FleetService {
  const folder = manager.folder(env);
  const taken = existsSync(folder) ? readdirSync(folder) : [];
  const own = taken.find(
    (file) =>
      file.startsWith(prefix) &&
      file.endsWith(manager.suffix) &&
      manager.isOf(readFileSync(join(folder, file), "utf8"), fleet.file),
  );
  const free = names(fleet.name).find((name) => !taken.includes(name + manager.suffix));
  const name = own ? own.slice(0, -manager.suffix.length) : (free ?? `${prefix}${fleet.name}`);
  return { name, file: join(folder, name + manager.suffix), installed: own !== undefined };
}

export function factsOf(
  { name }: Pick<FleetService, "name">,
  fleet: { name: string; file: string },
  env: NodeJS.ProcessEnv,
): ServiceFacts {
  const stateDir = stateDirOf(fleet.file);
  return {
    name,
    fleet: fleet.name,
    fleetFile: fleet.file,
    fleetDir: dirname(fleet.file),
    environmentFile: join(stateDir, "service.env"),
    logDir: join(stateDir, "logs"),
    path: env.PATH ?? "",
    node: process.execPath,
    script: ownScript(),
  };
}

const prefix = "herdctl-";
const most = 100;

function names(fleet: string): string[] {
  const more = Array.from({ length: most }, (_, index) => `${prefix}${fleet}-${index + 2}`);
  return [`${prefix}${fleet}`, ...more];
}

function ownScript(): string {
  const script = realpathSync(process.argv[1] ?? "");
  if (!script.includes("/_npx/")) return script;
  throw new UserError(
    "service_unavailable",
    "this herdctl was fetched by npx, whose folder does not last",
    { hint: "Install it with `npm install -g herdctl`, then run `herdctl service install`." },
  );
}
