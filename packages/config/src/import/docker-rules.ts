import { isScalar } from "yaml";
import { isNamedVolume } from "../schema/docker.ts";
import type { Block } from "./block.ts";

const defaultCpuPeriod = 100_000;
const minPids = 100;

/** The `docker` block of an agent, of `defaults` or of the fleet. */
export function translateDocker(docker: Block): void {
  translateCpus(docker);
  translateImage(docker);
  if (docker.isImport) {
    translateNetwork(docker);
    translatePids(docker);
    translateUser(docker);
    translateVolumes(docker);
    translateTmpfs(docker);
  }
  if (docker.value("ephemeral") === false)
    docker.drop("decision", "ephemeral", "each job gets a separate container here");
  docker.drop("ignored", "ephemeral", "each job gets a separate container here");
  docker.drop("ignored", "max_containers", "`max_concurrent` limits the runs of an agent here");
  docker.drop("ignored", "labels", "labels of containers cannot be set here");
  if (docker.list("ports")?.items.length === 0) docker.remove("ports");
  docker.drop("decision", "ports", "a container publishes no ports here");
  docker.drop(
    "decision",
    "host_config",
    "options of the engine cannot be set here; look for a field of `docker` instead",
  );
}

function translateCpus(docker: Block): void {
  const quota = docker.number("cpu_quota");
  if (quota !== undefined && quota > 0) {
    const cpus = quota / (docker.number("cpu_period") ?? defaultCpuPeriod);
    if (docker.has("cpus")) docker.remove("cpu_quota");
    else docker.rename("cpu_quota", "cpus", Math.round(cpus * 1000) / 1000);
  }
  const message = "a limit of processors is `cpus` here";
  docker.drop("ignored", "cpu_quota", message);
  docker.drop("ignored", "cpu_period", message);
  docker.drop("ignored", "cpu_shares", "relative shares do not exist here; `cpus` is a limit");
}

function translateImage(docker: Block): void {
  if (docker.has("image")) docker.drop("ignored", "base_image", "`image` takes its place");
  else docker.rename("base_image", "image");
}

function translateNetwork(docker: Block): void {
  const network = docker.text("network");
  if (network === undefined || ["none", "bridge", "host"].includes(network)) return;
  docker.drop(
    "decision",
    "network",
    `the network \`${network}\` cannot be used: a container has no network here unless you write \`network: bridge\`; \`egress\` opens single hosts`,
  );
}

function translatePids(docker: Block): void {
  const limit = docker.number("pids_limit");
  if (limit === undefined || limit >= minPids) return;
  docker.report("decision", "pids_limit", `Claude Code needs at least ${minPids} processes`);
  docker.set("pids_limit", minPids);
}

function translateUser(docker: Block): void {
  const user = docker.value("user");
  if (typeof user === "number" && user > 0) docker.set("user", String(user));
  if (user === undefined || /^[1-9]\d*(:\d+)?$/.test(String(user))) return;
  docker.drop(
    "decision",
    "user",
    `a container runs as a numeric user other than root, not as \`${user}\`; without \`user\` it is the owner of the workspace`,
  );
}

/** A volume without a mode is writable in Docker, and read-only here. */
function translateVolumes(docker: Block): void {
  const volumes = docker.list("volumes");
  if (volumes === undefined) return;
  const kept = volumes.items.filter((item) => {
    const text = isScalar(item) ? String(item.value) : "";
    if (!/docker\.sock(:|$)/.test(text)) return true;
    const message = "a container cannot use the engine's socket, which controls the whole machine";
    docker.report("decision", "volumes", message);
    return false;
  });
  volumes.items.splice(0, volumes.items.length, ...kept);
  for (const item of kept) {
    if (!isScalar(item)) continue;
    const [source = "", target = "", mode, ...rest] = String(item.value).split(":");
    const isPath = /^(\/|\.{1,2}(\/|$)|~(\/|$)|\$)/.test(source);
    const knownSource = isPath || isNamedVolume({ source }) ? source : `./${source}`;
    const access = mode?.split(",").includes("ro") ? "ro" : "rw";
    const written = [knownSource, target, access, ...rest].join(":");
    if (written === item.value || target === "") continue;
    docker.report("renamed", "volumes", `\`${item.value}\` is written \`${written}\` here`);
    item.value = written;
  }
  if (kept.length === 0) docker.remove("volumes");
}

function translateTmpfs(docker: Block): void {
  for (const item of docker.list("tmpfs")?.items ?? []) {
    if (!isScalar(item)) continue;
    const [path = "", options] = String(item.value).split(":");
    if (options === undefined) continue;
    docker.report(
      "ignored",
      "tmpfs",
      `options of a folder in memory, \`${options}\`, are not used`,
    );
    item.value = path;
  }
  const mount = docker.text("tmpfs");
  if (mount !== undefined) docker.set("tmpfs", [mount.split(":")[0]]);
}
