import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { listPids, readProc } from "./process-table.ts";

/**
 * A control group for one run, below the group of this process. A process cannot leave it by forking,
 * starting a new session or clearing its environment, and the kernel can kill the whole group.
 */
export class RunCgroup {
  readonly #folder: string;
  #isComplete: boolean;

  private constructor(folder: string, isComplete: boolean) {
    this.#folder = folder;
    this.#isComplete = isComplete;
  }

  /** Undefined if the system or our permissions do not allow one. */
  static create(runToken: string, pid: number): RunCgroup | undefined {
    const folder = cgroupFolderFor(runToken);
    if (folder === undefined) return undefined;
    if (!succeeds(() => mkdirSync(folder))) return undefined;
    if (succeeds(() => writeFileSync(join(folder, "cgroup.procs"), String(pid)))) {
      return new RunCgroup(folder, true);
    }
    succeeds(() => rmdirSync(folder));
    return undefined;
  }

  /** Finds the group that an earlier runner or fleet process created, possibly below another group. */
  static find(runToken: string): RunCgroup | undefined {
    const name = folderName(runToken);
    const folder = cgroupFolderFor(runToken);
    if (folder && existsSync(folder)) return new RunCgroup(folder, false);
    const mount = cgroupMount();
    if (mount === undefined) return undefined;
    for (const pid of listPids()) {
      const path = findGroupPath(name, readProc(pid, "cgroup") ?? "");
      if (path !== undefined && existsSync(join(mount, path))) {
        return new RunCgroup(join(mount, path), false);
      }
    }
    return undefined;
  }

  /** Adds another process of the run. Processes that it has already forked stay outside. */
  add(pid: number): void {
    this.#isComplete = false;
    succeeds(() => writeFileSync(join(this.#folder, "cgroup.procs"), String(pid)));
  }

  members(): number[] {
    return foldersBelow(this.#folder).flatMap((folder) =>
      read(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number),
    );
  }

  /** True if the group held every process of the run and none is left. */
  isKnownEmpty(): boolean {
    return this.#isComplete && existsSync(this.#folder) && this.members().length === 0;
  }

  /** Has no effect before Linux 5.14; the caller then kills the members one by one. */
  kill(): void {
    succeeds(() => writeFileSync(join(this.#folder, "cgroup.kill"), "1"));
  }

  /** The kernel keeps a group until its last dead process is reaped. */
  async remove(): Promise<void> {
    const deadline = Date.now() + 1_000;
    while (!this.#tryRemove() && Date.now() < deadline) await delay(10);
  }

  #tryRemove(): boolean {
    for (const folder of foldersBelow(this.#folder).reverse()) succeeds(() => rmdirSync(folder));
    return !existsSync(this.#folder);
  }
}

export function parseOwnGroup(procCgroup: string): string | undefined {
  const path = /^0::(\/.*)$/m.exec(procCgroup)?.[1];
  // A path outside our cgroup namespace is not reachable.
  return path?.startsWith("/..") ? undefined : path;
}

/** The mount point of the unified hierarchy; next to a v1 hierarchy it is not in the usual place. */
export function parseCgroupMount(mountinfo: string): string | undefined {
  const line = mountinfo.split("\n").find((mount) => mount.includes(" - cgroup2 "));
  const [, , , root, point] = line?.split(" ") ?? [];
  return root === "/" ? point : undefined;
}

/** The path of the group with this name that a process is in, at any depth. */
export function findGroupPath(name: string, procCgroup: string): string | undefined {
  const parts = parseOwnGroup(procCgroup)?.split("/") ?? [];
  const index = parts.indexOf(name);
  return index === -1 ? undefined : parts.slice(0, index + 1).join("/");
}

function cgroupFolderFor(runToken: string): string | undefined {
  const mount = cgroupMount();
  const path = parseOwnGroup(read("/proc/self/cgroup"));
  return mount && path ? join(mount, path, folderName(runToken)) : undefined;
}

function folderName(runToken: string): string {
  return `herdctl-${runToken}`;
}

function cgroupMount(): string | undefined {
  return parseCgroupMount(read("/proc/self/mountinfo"));
}

/** Parents first. */
function foldersBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return [folder, ...foldersIn(folder).flatMap((name) => foldersBelow(join(folder, name)))];
}

function foldersIn(folder: string): string[] {
  const inner: string[] = [];
  succeeds(() => {
    const entries = readdirSync(folder, { withFileTypes: true });
    inner.push(...entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name));
  });
  return inner;
}

function succeeds(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
