import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, delimiter, dirname, resolve, sep } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { hasErrorCode } from "../lib/error-code.ts";

/** Lists folders whose files are trusted regardless of their owner, separated as in `PATH`. */
export const safeDirectoryVariable = "HERDCTL_SAFE_DIRECTORY";

export const stateFolderName = ".herdctl";

/** The properties of a path that decide whether herdctl uses it. */
export interface PathOwnership {
  path: string;
  isFolder: boolean;
  uid: number;
  gid: number;
  mode: number;
}

export interface CurrentUser {
  uid: number;
  gid: number;
  name: string;
  /** The user who called sudo. Their files are trusted, because they can become root anyway. */
  sudoUid?: number;
  safeDirectories: readonly string[];
  /** Whether the user is the only member of the group. */
  isPrivateGroup(gid: number): boolean;
}

export interface OwnershipProblem {
  path: string;
  /** Continues a sentence after the path: `belongs to …`, `can be changed by …`. */
  reason: string;
  hint: string;
  /** The mode without write permission for others; undefined if the owner is wrong. */
  mode?: number;
}

const rootUid = 0;
const otherWriteBit = 0o002;
const groupWriteBit = 0o020;
const stickyBit = 0o1000;

/** Throws if another user owns a path or can change it, as git and ssh do. */
export function assertOwnership(paths: readonly string[], user = readCurrentUser()): void {
  const [problem] = findOwnershipProblems(paths, user);
  if (problem === undefined) return;
  const { path, reason, hint } = problem;
  throw new UserError("dubious_ownership", `${path} ${reason}`, { hint });
}

/** Ignores paths that do not exist. */
function findOwnershipProblems(
  paths: readonly string[],
  user = readCurrentUser(),
): OwnershipProblem[] {
  if (user === undefined) return [];
  return paths.flatMap((path) => {
    if (isInSafeDirectory(path, user)) return [];
    return readPathOwnership(path).flatMap(
      (ownership) => checkPathOwnership(ownership, user) ?? [],
    );
  });
}

export function checkPathOwnership(
  { path, uid, gid, mode, isFolder }: PathOwnership,
  user: CurrentUser,
): OwnershipProblem | undefined {
  if (/* defence: foreign-owner */ uid !== user.uid && uid !== rootUid && uid !== user.sudoUid) {
    const flag = basename(path) === stateFolderName ? "-R " : "";
    const hint = `Run \`sudo chown ${flag}${user.name} ${quoteShellWord(path)}\`, run herdctl as the owner, or, if you trust the owner, ${safeDirectoryHint(path, isFolder)}.`;
    return { path, reason: `belongs to another user (uid ${uid})`, hint };
  }
  const writers = otherWriters(mode, gid, user);
  if (writers === undefined || (isFolder && (mode & stickyBit) !== 0)) return undefined;
  const safeMode = mode & 0o7777 & ~(groupWriteBit | otherWriteBit);
  const hint = `Run \`chmod ${safeMode.toString(8)} ${quoteShellWord(path)}\`, or, if you trust everyone with write permission, ${safeDirectoryHint(path, isFolder)}.`;
  return { path, reason: `can be changed by ${writers}`, hint, mode: safeMode };
}

function otherWriters(mode: number, gid: number, user: CurrentUser): string | undefined {
  // defence: world-writable
  if ((mode & otherWriteBit) !== 0) return "every user of this machine";
  if ((mode & groupWriteBit) === 0 || gid === rootUid || user.isPrivateGroup(gid)) return undefined;
  return `every user in the group ${gid}`;
}

function safeDirectoryHint(path: string, isFolder: boolean): string {
  return `set ${safeDirectoryVariable}=${quoteShellWord(isFolder ? path : dirname(path))}`;
}

function quoteShellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** For a link, the ownership of the link and of its target. */
function readPathOwnership(path: string): PathOwnership[] {
  const link = lstatIfExists(path);
  if (link === undefined) return [];
  // Up to Node 22, an import after `lstat` of a socket does not resolve links and searches packages
  // in the wrong folder.
  if (link.isSocket()) lstatSync(dirname(path));
  const ownership = [toPathOwnership(path, link, !link.isSymbolicLink())];
  const target = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined;
  // defence: owner-behind-link
  return target ? [...ownership, toPathOwnership(realpathSync(path), target, true)] : ownership;
}

/** Undefined if the path does not exist, or if one of its parents is a file. */
function lstatIfExists(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasErrorCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}

function toPathOwnership(path: string, stats: Stats, hasMode: boolean): PathOwnership {
  const { uid, gid, mode } = stats;
  return { path, isFolder: stats.isDirectory(), uid, gid, mode: hasMode ? mode : 0 };
}

export function isInSafeDirectory(path: string, { safeDirectories }: CurrentUser): boolean {
  const real = realPathOrResolved(path);
  return safeDirectories.some(
    (folder) => folder === "*" || isWithin(real, realPathOrResolved(folder)),
  );
}

function realPathOrResolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Undefined on systems without file owners, such as Windows. */
export function readCurrentUser(env = process.env): CurrentUser | undefined {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  if (uid === undefined || gid === undefined) return undefined;
  const name = userName(uid);
  const sudoUid = uid === rootUid && env.SUDO_UID ? Number(env.SUDO_UID) : undefined;
  const safeDirectories = (env[safeDirectoryVariable] ?? "").split(delimiter).filter(Boolean);
  const isPrivateGroup = (group: number) => group === gid && isOnlyGroupMember(name, uid, gid);
  return { uid, gid, name, sudoUid, safeDirectories, isPrivateGroup };
}

function userName(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}

/** On macOS every user is in the group `staff`. A group that is in no file may have any members. */
function isOnlyGroupMember(name: string, uid: number, gid: number): boolean {
  if (process.platform === "darwin") return false;
  const group = readColonSeparatedFile("/etc/group").find(([, , id]) => id === String(gid));
  if (group === undefined) return gid === uid;
  const members = (group[3] ?? "").split(",").filter((one) => one !== "" && one !== "root");
  const others = readColonSeparatedFile("/etc/passwd").filter(
    ([login, , , primary]) => primary === String(gid) && login !== name,
  );
  return others.length === 0 && members.every((one) => one === name);
}

function readColonSeparatedFile(file: string): string[][] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
}
