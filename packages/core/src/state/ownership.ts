import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, delimiter, dirname, resolve, sep } from "node:path";
import { UserError } from "../errors/user-error.ts";

/** Names folders whose files are trusted whoever owns them; several are separated as in `PATH`. */
export const safeDirectoryVariable = "HERDCTL_SAFE_DIRECTORY";

export const stateFolderName = ".herdctl";

/** What decides whether a path may be used: who owns it, and who else may write to it. */
export interface PathFacts {
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
  /** Root acts for this user, who may become root anyway. */
  sudoUid?: number;
  safeDirectories: readonly string[];
  /** Whether nobody but this user is in the group. */
  isPrivateGroup(gid: number): boolean;
}

export interface OwnershipProblem {
  path: string;
  /** Reads on after the path: `belongs to …`, `can be changed by …`. */
  reason: string;
  hint: string;
  /** The mode without the rights of others; undefined when the owner is wrong. */
  mode?: number;
}

const rootUid = 0;
const othersMayWrite = 0o002;
const groupMayWrite = 0o020;
const sticky = 0o1000;

/** Refuses paths that another user of the machine owns or may change, as git and ssh do. */
export function assertOwned(paths: readonly string[], user = currentUser()): void {
  const [problem] = ownershipProblems(paths, user);
  if (problem === undefined) return;
  const { path, reason, hint } = problem;
  throw new UserError("dubious_ownership", `${path} ${reason}`, { hint });
}

/** Paths that do not exist have no problem. */
function ownershipProblems(paths: readonly string[], user = currentUser()): OwnershipProblem[] {
  if (user === undefined) return [];
  return paths.flatMap((path) => {
    if (isInSafeDirectory(path, user)) return [];
    return factsOf(path).flatMap((facts) => judgeOwnership(facts, user) ?? []);
  });
}

export function judgeOwnership(
  { path, uid, gid, mode, isFolder }: PathFacts,
  user: CurrentUser,
): OwnershipProblem | undefined {
  if (uid !== user.uid && uid !== rootUid && uid !== user.sudoUid) {
    const flag = basename(path) === stateFolderName ? "-R " : "";
    const hint = `Run \`sudo chown ${flag}${user.name} ${quoted(path)}\`, run herdctl as the owner, or, if you trust the owner, ${optIn(path, isFolder)}.`;
    return { path, reason: `belongs to another user (uid ${uid})`, hint };
  }
  const writers = othersWho(mode, gid, user);
  if (writers === undefined || (isFolder && (mode & sticky) !== 0)) return undefined;
  const wanted = mode & 0o7777 & ~(groupMayWrite | othersMayWrite);
  const hint = `Run \`chmod ${wanted.toString(8)} ${quoted(path)}\`, or, if you trust all who may write, ${optIn(path, isFolder)}.`;
  return { path, reason: `can be changed by ${writers}`, hint, mode: wanted };
}

function othersWho(mode: number, gid: number, user: CurrentUser): string | undefined {
  if ((mode & othersMayWrite) !== 0) return "every user of this machine";
  if ((mode & groupMayWrite) === 0 || gid === rootUid || user.isPrivateGroup(gid)) return undefined;
  return `every user in the group ${gid}`;
}

function optIn(path: string, isFolder: boolean): string {
  return `set ${safeDirectoryVariable}=${quoted(isFolder ? path : dirname(path))}`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** A link is judged by its own owner and by what it leads to. */
function factsOf(path: string): PathFacts[] {
  const link = lookAt(path);
  if (link === undefined) return [];
  // Node 20 resolves the next imported module's path by the last file looked at: after a socket it
  // leaves links as they are, and modules are looked up in the wrong folder.
  if (link.isSocket()) lstatSync(dirname(path));
  const facts = [asFacts(path, link, !link.isSymbolicLink())];
  const target = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return target ? [...facts, asFacts(realpathSync(path), target, true)] : facts;
}

/** Undefined when nothing is there, also because a file is in the place of a folder above it. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function asFacts(path: string, stats: Stats, hasMode: boolean): PathFacts {
  const { uid, gid, mode } = stats;
  return { path, isFolder: stats.isDirectory(), uid, gid, mode: hasMode ? mode : 0 };
}

export function isInSafeDirectory(path: string, { safeDirectories }: CurrentUser): boolean {
  const real = realOf(path);
  return safeDirectories.some((folder) => folder === "*" || isWithin(real, realOf(folder)));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Undefined where files have no owners, as on Windows. */
export function currentUser(env = process.env): CurrentUser | undefined {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  if (uid === undefined || gid === undefined) return undefined;
  const name = nameOf(uid);
  const sudoUid = uid === rootUid && env.SUDO_UID ? Number(env.SUDO_UID) : undefined;
  const safeDirectories = (env[safeDirectoryVariable] ?? "").split(delimiter).filter(Boolean);
  const isPrivateGroup = (group: number) => group === gid && isAlone(name, uid, gid);
  return { uid, gid, name, sudoUid, safeDirectories, isPrivateGroup };
}

function nameOf(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}

/** On macOS every user is in the group `staff`. A group that is in no file may be anybody's. */
function isAlone(name: string, uid: number, gid: number): boolean {
  if (process.platform === "darwin") return false;
  const group = linesOf("/etc/group").find(([, , id]) => id === String(gid));
  if (group === undefined) return gid === uid;
  const members = (group[3] ?? "").split(",").filter((one) => one !== "" && one !== "root");
  const others = linesOf("/etc/passwd").filter(
    ([login, , , primary]) => primary === String(gid) && login !== name,
  );
  return others.length === 0 && members.every((one) => one === name);
}

function linesOf(file: string): string[][] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
}
