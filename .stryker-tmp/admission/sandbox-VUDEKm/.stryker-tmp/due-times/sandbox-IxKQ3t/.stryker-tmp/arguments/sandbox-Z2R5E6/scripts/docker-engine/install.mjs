import { spawnSync } from "node:child_process";
import { run } from "../run-program.mjs";
import { printProgress } from "./print-progress.mjs";

/** Debian packages by the program that they install. */
const requiredPrograms = { dockerd: "docker.io", containerd: "containerd", ip: "iproute2" };

export async function installEngine() {
  if (process.getuid?.() !== 0) {
    throw new Error(
      "the Docker engine of the tests requires root: run the tests as root, or only those outside test/docker",
    );
  }
  await installMissing(requiredPrograms, "the Docker engine");
}

/** Installs the packages whose programs are missing, without prompts. */
export async function installMissing(programs, title) {
  const packages = Object.entries(programs).flatMap(([program, name]) =>
    isInstalled(program) ? [] : [name],
  );
  if (packages.length === 0) return;
  if (!isInstalled("apt-get")) {
    throw new Error(`install ${packages.join(", ")} first: this machine has no apt-get`);
  }
  printProgress(`installing ${title} (${packages.join(", ")}) …`);
  const install = [...aptLockOptions, "install", "-y", "--no-install-recommends", ...packages];
  if (aptGet(install).status === 0) return;
  // On a fresh machine, the package lists are empty or old.
  aptGet([...aptLockOptions, "update"]);
  await run("apt-get", install, { env: aptEnv });
}

/** Waits for another process that is installing packages. */
const aptLockOptions = ["-o", "DPkg::Lock::Timeout=600"];
const aptEnv = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };

function aptGet(args) {
  return spawnSync("apt-get", args, { env: aptEnv, stdio: "ignore" });
}

function isInstalled(program) {
  return spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0;
}
