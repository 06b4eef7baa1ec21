import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readdirSync, rmdirSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { installMissing } from "../../scripts/docker-engine/install.mjs";
import { tempFolderWith } from "./temp-folder.ts";

/**
 * Installs systemd if it is missing. Await it at the top of a file, where no time limit applies.
 */
export function ensureSystemd(): Promise<void> {
  return installMissing({ "systemd-analyze": "systemd", unshare: "util-linux" }, "systemd");
}

export interface UserSystemd {
  env: { XDG_RUNTIME_DIR: string; XDG_CONFIG_HOME: string };
  systemctl(...args: string[]): Promise<string>;
}

/**
 * The systemd of a user on any machine. It requires `/run/systemd/system`, which is created in a
 * separate mount namespace, and runs in a separate control group: in the root group it would move
 * every process of the machine.
 */
export async function userSystemd(): Promise<UserSystemd> {
  const root = tempFolderWith({ "run/.keep": "", "config/systemd/user/.keep": "" });
  const group = basename(root);
  const env = { XDG_RUNTIME_DIR: join(root, "run"), XDG_CONFIG_HOME: join(root, "config") };
  const own = { PATH: process.env.PATH ?? "", HOME: root, ...env };
  const child = spawn("unshare", ["--mount", "sh", "-ec", startScript, "sh", group], {
    env: own,
    stdio: "ignore",
  });
  const systemctl = async (...args: string[]) =>
    (await run("systemctl", ["--user", ...args], { env: own })).stdout;
  onTestFinished(async () => {
    await systemctl("exit").catch(() => child.kill("SIGKILL"));
    await ended(child);
    for (const folder of cgroupFolders(group)) removeCgroup(folder);
  });
  const deadline = Date.now() + 30_000;
  while (!(await systemctl("is-active", "default.target").catch(() => "")).startsWith("active")) {
    if (Date.now() > deadline) throw new Error("systemd does not come up");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { env, systemctl };
}

const run = promisify(execFile);

const startScript = `mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  if [ -f $root/cgroup.procs ]; then mkdir $root/$1 && echo $$ > $root/$1/cgroup.procs; fi
done
grep -q ":/$1$" /proc/self/cgroup
exec /lib/systemd/systemd --user`;

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

const cgroups = "/sys/fs/cgroup";

function cgroupFolders(group: string): string[] {
  const roots = [cgroups, ...readdirSync(cgroups).map((name) => join(cgroups, name))];
  return roots.flatMap((root) => listFolders(root).filter((folder) => basename(folder) === group));
}

function removeCgroup(folder: string): void {
  listFolders(folder).forEach(removeCgroup);
  rmdirSync(folder);
}

function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((one) => one.isDirectory()).map((one) => join(folder, one.name));
  } catch {
    return [];
  }
}
