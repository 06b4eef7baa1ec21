import { spawnSync } from "node:child_process";
import { run } from "../run.mjs";
import { say } from "./say.mjs";

/** Debian packages by the program that shows they are there. */
const needed = { dockerd: "docker.io", containerd: "containerd", ip: "iproute2" };

export async function installEngine() {
  if (process.getuid?.() !== 0) {
    throw new Error(
      "a Docker engine for the tests can only be started by root: run them as root, or only those outside test/docker",
    );
  }
  await installMissing(needed, "the Docker engine");
}

/** Installs the packages whose programs are missing; nothing is asked and nothing is started. */
export async function installMissing(programs, what) {
  const packages = Object.entries(programs).flatMap(([program, name]) =>
    isThere(program) ? [] : [name],
  );
  if (packages.length === 0) return;
  if (!isThere("apt-get")) {
    throw new Error(`install ${packages.join(", ")} first: this machine has no apt-get to do it`);
  }
  say(`installing ${what} (${packages.join(", ")}) …`);
  const install = [...patient, "install", "-y", "--no-install-recommends", ...packages];
  if (aptGet(install).status === 0) return;
  // The lists of a fresh machine are empty or old.
  aptGet([...patient, "update"]);
  await run("apt-get", install, { env: quiet });
}

/** Another of our own may be installing something just now. */
const patient = ["-o", "DPkg::Lock::Timeout=600"];
const quiet = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };

function aptGet(args) {
  return spawnSync("apt-get", args, { env: quiet, stdio: "ignore" });
}

function isThere(program) {
  return spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0;
}
