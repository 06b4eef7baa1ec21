import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { assertOwned, stateFolderName } from "../state/ownership.ts";

const fileNames = ["herdctl.yaml", "herdctl.yml"];
export const envFileName = ".env";

interface SearchOptions {
  config?: string;
  cwd: string;
}

/**
 * The fleet file that was named, else the nearest one from a folder upwards. Nothing of a fleet
 * that another user owns or may change is used, neither its files nor its socket.
 */
export function findFleetFile(options: SearchOptions): string {
  const file = locateFleetFile(options);
  assertFleetOwned(file);
  return file;
}

/** Without a look at who owns it. */
export function locateFleetFile({ config, cwd }: SearchOptions): string {
  if (config !== undefined) return namedFile(resolve(cwd, config));
  const folders = searchedFolders(resolve(cwd));
  for (const folder of folders) {
    const found = fileNames.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found) return found;
  }
  throw new UserError(
    "config_not_found",
    `no herdctl.yaml in ${resolve(cwd)} or any folder above it, up to ${folders.at(-1)}`,
  );
}

/** Everything that decides what a fleet does. */
function fleetPaths(fleetFile: string): string[] {
  const folder = dirname(fleetFile);
  return [folder, fleetFile, join(folder, envFileName), stateDirOf(fleetFile)];
}

export function assertFleetOwned(fleetFile: string): void {
  assertOwned(fleetPaths(fleetFile));
}

/** The state lies beside the fleet file, and is found though that file may be wrong inside. */
export function stateDirOf(fleetFile: string): string {
  return join(dirname(fleetFile), stateFolderName);
}

/** Ends at the home directory and where another file system begins, like the search of git. */
function searchedFolders(start: string): string[] {
  const home = realOf(homedir());
  const device = deviceOf(start);
  const folders = [start];
  for (let folder = start; realOf(folder) !== home; ) {
    const above = dirname(folder);
    if (above === folder || deviceOf(above) !== device) break;
    folders.push(above);
    folder = above;
  }
  return folders;
}

function deviceOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.dev;
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
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
