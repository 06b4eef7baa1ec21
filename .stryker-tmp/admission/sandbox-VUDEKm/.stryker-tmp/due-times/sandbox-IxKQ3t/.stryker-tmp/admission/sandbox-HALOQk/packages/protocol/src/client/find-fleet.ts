import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { assertOwnership, stateFolderName } from "./path-ownership.ts";

const fleetFileNames = ["herdctl.yaml", "herdctl.yml"];
export const envFileName = ".env";

interface SearchOptions {
  config?: string;
  cwd: string;
}

/**
 * The named fleet file, or else the nearest one in a folder and its parents. Throws if another user
 * owns the files or the state of the fleet or can change them.
 */
export function findFleetFile(options: SearchOptions): string {
  const file = findFleetFileUnchecked(options);
  // defence: fleet-file-owner
  assertFleetOwnership(file);
  return file;
}

/** Like `findFleetFile`, but without the check of owners. */
export function findFleetFileUnchecked({ config, cwd }: SearchOptions): string {
  if (config !== undefined) return resolveNamedFile(resolve(cwd, config));
  const folders = listSearchFolders(resolve(cwd));
  for (const folder of folders) {
    const found = fleetFileNames.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found) return found;
  }
  throw new UserError(
    "config_not_found",
    `no herdctl.yaml in ${resolve(cwd)} or its parent folders up to ${folders.at(-1)}`,
  );
}

/** The paths whose content controls the fleet. */
function pathsToCheck(fleetFile: string): string[] {
  const folder = dirname(fleetFile);
  return [folder, fleetFile, join(folder, envFileName), stateDirOf(fleetFile)];
}

export function assertFleetOwnership(fleetFile: string): void {
  assertOwnership(pathsToCheck(fleetFile));
}

/** The state folder is next to the fleet file, so it is found even if that file has errors. */
export function stateDirOf(fleetFile: string): string {
  return join(dirname(fleetFile), stateFolderName);
}

/** The search ends at the home directory and at file system boundaries, like that of git. */
function listSearchFolders(start: string): string[] {
  const home = realPathIfExists(homedir());
  const device = readDevice(start);
  const folders = [start];
  for (let folder = start; /* defence: search-ends-at-home */ realPathIfExists(folder) !== home; ) {
    const parent = dirname(folder);
    if (parent === folder || readDevice(parent) !== device) break;
    folders.push(parent);
    folder = parent;
  }
  return folders;
}

function readDevice(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.dev;
}

function realPathIfExists(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function resolveNamedFile(path: string): string {
  const candidates = isFolder(path) ? fleetFileNames.map((name) => join(path, name)) : [path];
  const found = candidates.find((file) => existsSync(file));
  if (found) return found;
  throw new UserError("config_not_found", `${path} does not exist or contains no herdctl.yaml`, {
    hint: "Check the path given with `--config`.",
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
