import type Docker from "dockerode";
import { type ContainerIdentity, containerName, labelsOf } from "../../docker/container-labels.ts";
import type { ContainerUser, DockerConfig } from "../../docker/docker-config.ts";
import type { EngineFacts } from "../../docker/engine-facts.ts";
import type { Mount } from "../../docker/mounts.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { seccompOption } from "./seccomp-profile.ts";

export interface ContainerSpecInput {
  identity: ContainerIdentity;
  user: ContainerUser;
  mounts: readonly Mount[];
  engine: Pick<EngineFacts, "image" | "cpus" | "diskQuota">;
}

/**
 * The complete description of a container. It contains no arguments, variables or secrets of the run:
 * these are sent on stdin, so that `docker inspect` does not show them.
 */
export function buildContainerSpec(
  config: DockerConfig,
  { identity, user, mounts, engine }: ContainerSpecInput,
): Docker.ContainerCreateOptions {
  return {
    name: containerName(identity.job),
    // The name could point to another image when the engine resolves it.
    // defence: image-by-id
    Image: engine.image.id,
    Labels: labelsOf(identity),
    User: `${user.uid}:${user.gid}`,
    Entrypoint: [containerPaths.launcher],
    Cmd: [],
    Env: [],
    WorkingDir: "/",
    Hostname: config.network === "host" ? undefined : "agent",
    Healthcheck: { Test: ["NONE"] },
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    HostConfig: {
      ...resourceLimits(config, engine),
      ...securityOptions,
      // defence: configured-network
      NetworkMode: config.network,
      // defence: read-only-root
      ReadonlyRootfs: config.readOnlyRoot,
      Tmpfs: tmpfsMounts(config, user),
      Mounts: mounts.map(toBindMount),
    },
  };
}

function resourceLimits(
  config: DockerConfig,
  engine: ContainerSpecInput["engine"],
): Docker.HostConfig {
  const { memory, pidsLimit, disk, readOnlyRoot } = config;
  const cpus = /* defence: default-cpus */ config.cpus ?? defaultCpus(engine);
  return {
    Memory: memory,
    // Equal to the memory, so that there is no additional swap.
    // defence: no-swap
    MemorySwap: memory,
    // defence: pids-limit
    PidsLimit: pidsLimit,
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    Ulimits: [
      // A core file would write the run's memory into the workspace.
      { Name: "core", Soft: 0, Hard: 0 },
      // defence: file-size-limit
      { Name: "fsize", Soft: disk, Hard: disk },
    ],
    ...(!readOnlyRoot && engine.diskQuota && { StorageOpt: { size: String(disk) } }),
  };
}

const maxDefaultCpus = 2;

/** The engine rejects more CPUs than it has, and any limit that it cannot enforce. */
function defaultCpus({ cpus }: ContainerSpecInput["engine"]): number | undefined {
  return cpus === undefined ? undefined : Math.min(maxDefaultCpus, cpus);
}

/** Options that are missing in the library's types. */
type HostConfig = Docker.HostConfig & { CgroupnsMode: "private" };
type BindMount = Docker.MountSettings & {
  BindOptions: { Propagation: "rprivate"; ReadOnlyForceRecursive?: boolean };
};

/** The engine's AppArmor profile also applies, because nothing here disables it. */
const securityOptions: HostConfig = {
  // defence: cap-drop
  CapDrop: ["ALL"],
  // defence: no-new-privileges
  // defence: seccomp-profile
  SecurityOpt: ["no-new-privileges:true", seccompOption],
  Privileged: false,
  IpcMode: "private",
  CgroupnsMode: "private",
  Init: true,
  PublishAllPorts: false,
  RestartPolicy: { Name: "no" },
  // The state of the container is read after it ended; then herdctl removes it.
  AutoRemove: false,
  LogConfig: { Type: "local", Config: { "max-size": "10m", "max-file": "2" } },
};

/**
 * Each tmpfs is limited to half of the memory, because its pages count as memory: a program that
 * fills it gets an error instead of being killed. `exec` is allowed because package managers need it.
 */
function tmpfsMounts(
  { tmpfs, memory }: DockerConfig,
  { uid, gid }: ContainerUser,
): Record<string, string> {
  const size = Math.floor(memory / 2);
  const sharedOptions = `rw,exec,nosuid,nodev,mode=1777,size=${size}`;
  const homeOptions = `rw,exec,nosuid,nodev,mode=0700,uid=${uid},gid=${gid},size=${size}`;
  const extraMounts = tmpfs.map((path) => [path, sharedOptions] as const);
  return {
    "/tmp": sharedOptions,
    [containerPaths.home]: homeOptions,
    ...Object.fromEntries(extraMounts),
  };
}

function toBindMount({ source, target, readOnly, recursive }: Mount): BindMount {
  return {
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: {
      Propagation: "rprivate",
      ...(recursive && { ReadOnlyForceRecursive: true }),
    },
  };
}
