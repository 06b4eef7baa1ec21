import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { listPids, readProc } from "./process-table.ts";

/**
 * A control group of the run's own, below ours. No process leaves it by forking, by a new session
 * or by a clean environment, and the kernel ends all of it in one stroke.
 */
export class RunCgroup {
  readonly #folder: string;
  #hasAll: boolean;

  private constructor(folder: string, hasAll: boolean) {
    this.#folder = folder;
    this.#hasAll = hasAll;
  }

  /** Undefined where this system or our rights do not allow one. */
  static hold(runToken: string, pid: number): RunCgroup | undefined {
    const folder = ownFolder(runToken);
    if (folder === undefined) return undefined;
    if (!attempt(() => mkdirSync(folder))) return undefined;
    if (attempt(() => writeFileSync(join(folder, "cgroup.procs"), String(pid)))) {
      return new RunCgroup(folder, true);
    }
    attempt(() => rmdirSync(folder));
    return undefined;
  }

  /** The one that an earlier process of ours made, maybe from within another group. */
  static find(runToken: string): RunCgroup | undefined {
    const name = folderName(runToken);
    const own = ownFolder(runToken);
    if (own && existsSync(own)) return new RunCgroup(own, false);
    const mount = cgroupMount();
    if (mount === undefined) return undefined;
    for (const pid of listPids()) {
      const path = groupNamed(name, readProc(pid, "cgroup") ?? "");
      if (path !== undefined && existsSync(join(mount, path))) {
        return new RunCgroup(join(mount, path), false);
      }
    }
    return undefined;
  }

  /** Those of runs and launchers that were made from within our group. */
  static tokens(): string[] {
    const folder = ownFolder("");
    if (folder === undefined) return [];
    const prefix = basename(folder);
    return foldersIn(dirname(folder)).flatMap((name) =>
      name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
    );
  }

  /** One process more of the same run. What it has forked already stays outside. */
  add(pid: number): void {
    this.#hasAll = false;
    attempt(() => writeFileSync(join(this.#folder, "cgroup.procs"), String(pid)));
  }

  members(): number[] {
    return foldersBelow(this.#folder).flatMap((folder) =>
      read(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number),
    );
  }

  /** Nothing of the run is left, as far as the group had all of it. */
  isSurelyEmpty(): boolean {
    return this.#hasAll && existsSync(this.#folder) && this.members().length === 0;
  }

  /** Kernels before 5.14 cannot; the members are then killed one by one. */
  kill(): void {
    attempt(() => writeFileSync(join(this.#folder, "cgroup.kill"), "1"));
  }

  /** The kernel keeps a group until the last of its dead is gone. */
  async remove(): Promise<void> {
    const deadline = Date.now() + 1_000;
    while (!this.#tryRemove() && Date.now() < deadline) await delay(10);
  }

  /** At once, and only where nobody is in it. */
  removeEmpty(): void {
    this.#tryRemove();
  }

  #tryRemove(): boolean {
    for (const folder of foldersBelow(this.#folder).reverse()) attempt(() => rmdirSync(folder));
    return !existsSync(this.#folder);
  }
}

export function parseOwnGroup(procCgroup: string): string | undefined {
  const path = /^0::(\/.*)$/m.exec(procCgroup)?.[1];
  // Beyond our namespace there is nothing that we could reach.
  return path?.startsWith("/..") ? undefined : path;
}

/** Where the unified hierarchy is mounted; beside an older one that is not at its usual place. */
export function parseCgroupMount(mountinfo: string): string | undefined {
  const line = mountinfo.split("\n").find((mount) => mount.includes(" - cgroup2 "));
  const [, , , root, point] = line?.split(" ") ?? [];
  return root === "/" ? point : undefined;
}

/** The path of the group of this name that a process is in, at whatever depth. */
export function groupNamed(name: string, procCgroup: string): string | undefined {
  const parts = parseOwnGroup(procCgroup)?.split("/") ?? [];
  const index = parts.indexOf(name);
  return index === -1 ? undefined : parts.slice(0, index + 1).join("/");
}

function ownFolder(runToken: string): string | undefined {
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
  attempt(() => {
    const entries = readdirSync(folder, { withFileTypes: true });
    inner.push(...entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name));
  });
  return inner;
}

function attempt(step: () => void): boolean {
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
