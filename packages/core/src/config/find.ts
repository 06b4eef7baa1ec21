import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";

const fileNames = ["herdctl.yaml", "herdctl.yml"];

/** The fleet file that was named, else the nearest one from a folder upwards. */
export function findFleetFile(options: { config?: string; cwd: string }): string {
  if (options.config !== undefined) return namedFile(resolve(options.cwd, options.config));
  for (let folder = resolve(options.cwd); ; folder = dirname(folder)) {
    const found = fileNames.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found) return found;
    if (folder === dirname(folder)) break;
  }
  throw new UserError(
    "config_not_found",
    `no herdctl.yaml in ${resolve(options.cwd)} or any folder above it`,
  );
}

/** The state lies beside the fleet file, and is found though that file may be wrong inside. */
export function stateDirOf(fleetFile: string): string {
  return join(dirname(fleetFile), ".herdctl");
}

function namedFile(path: string): string {
  const inFolder = isFolder(path) ? fileNames.map((name) => join(path, name)) : [path];
  const found = inFolder.find((file) => existsSync(file));
  if (found) return found;
  throw new UserError("config_not_found", `${path} does not exist or holds no herdctl.yaml`, {
    hint: "Check the path given with `--config`.",
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
