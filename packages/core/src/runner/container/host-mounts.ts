import { readFileSync } from "node:fs";

/** A file system of this machine, as it is mounted for this process. */
export interface HostMount {
  path: string;
  readOnly: boolean;
  type: string;
  /** Of the file system itself, such as `prjquota`. */
  options: readonly string[];
}

/** None where the system has no such list: there the engine runs in a virtual machine. */
export function hostMounts(): HostMount[] {
  try {
    return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return [];
  }
}

/** Fields as in proc_pid_mountinfo(5); a variable number of optional ones ends with a hyphen. */
export function parseMounts(text: string): HostMount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [, , , , path = "", options = ""] = before.split(" ");
      const [type = "", , superOptions = ""] = after.split(" ");
      return {
        path: unescaped(path),
        readOnly: options.split(",").includes("ro"),
        type,
        options: superOptions.split(","),
      };
    });
}

/** The file system that a path is on. */
export function mountOf(path: string, mounts: readonly HostMount[]): HostMount | undefined {
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

/** Spaces and the like are written in octal. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
