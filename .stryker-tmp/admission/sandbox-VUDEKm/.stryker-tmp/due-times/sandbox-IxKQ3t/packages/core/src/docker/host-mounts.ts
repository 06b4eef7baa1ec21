import { readFileSync } from "node:fs";

/** A mounted file system of this machine, as seen by this process. */
export interface HostMount {
  path: string;
  readOnly: boolean;
  type: string;
  /** Options of the file system itself, such as `prjquota`. */
  options: readonly string[];
}

/** Empty on systems without this list, where the engine runs in a virtual machine. */
export function readHostMounts(): HostMount[] {
  try {
    return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return [];
  }
}

/** Fields as in proc_pid_mountinfo(5); a hyphen ends the variable number of optional fields. */
export function parseMounts(text: string): HostMount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [, , , , path = "", options = ""] = before.split(" ");
      const [type = "", , superOptions = ""] = after.split(" ");
      return {
        path: unescapeOctal(path),
        readOnly: options.split(",").includes("ro"),
        type,
        options: superOptions.split(","),
      };
    });
}

/** The file system that a path is on. */
export function findMount(path: string, mounts: readonly HostMount[]): HostMount | undefined {
  return mounts
    .filter((mount) => path === mount.path || isBelow(path, mount.path))
    .toSorted((a, b) => a.path.length - b.path.length)
    .at(-1);
}

/** The writable file systems mounted somewhere below a folder. */
export function writableMountsBelow(folder: string, mounts: readonly HostMount[]): string[] {
  return mounts
    .filter(({ path, readOnly }) => !readOnly && isBelow(path, folder))
    .map(({ path }) => path);
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Spaces and similar characters are escaped in octal. */
function unescapeOctal(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
