import type Docker from "dockerode";
import type { ContainerUser, DockerConfig } from "../runtime/docker-config.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { type ContainerIdentity, containerName, labelsOf } from "./labels.ts";
import { inside } from "./layout.ts";
import type { Mount } from "./mounts.ts";
import { seccompOption } from "./seccomp-profile.ts";

export interface ContainerFacts {
  identity: ContainerIdentity;
  user: ContainerUser;
  mounts: readonly Mount[];
  engine: Pick<EngineFacts, "image" | "cpus" | "diskQuota">;
}

/**
 * The whole description of a container. It holds no argument, no variable and no secret of the
 * run: all of that comes by standard input, which no `docker inspect` shows.
 */
export function containerSpec(
  config: DockerConfig,
  { identity, user, mounts, engine }: ContainerFacts,
): Docker.ContainerCreateOptions {
  return {
    name: containerName(identity.who),
    // The name could stand for another image by the time that the engine looks it up.
    Image: engine.image.id,
    Labels: labelsOf(identity),
    User: `${user.uid}:${user.gid}`,
    Entrypoint: [inside.launcher],
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
      ...limits(config, engine),
      ...boundary,
      NetworkMode: config.network,
      ReadonlyRootfs: config.readOnlyRoot,
      Tmpfs: tmpfs(config, user),
      Mounts: mounts.map(bind),
    },
  };
}

function limits(config: DockerConfig, engine: ContainerFacts["engine"]): Docker.HostConfig {
  const { memory, pidsLimit, disk, readOnlyRoot } = config;
  const cpus = config.cpus ?? defaultCpus(engine);
  return {
    Memory: memory,
    // Equal to the memory: no swap comes on top.
    MemorySwap: memory,
    PidsLimit: pidsLimit,
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    Ulimits: [
      // A core file would put the memory of the run into the workspace.
      { Name: "core", Soft: 0, Hard: 0 },
      { Name: "fsize", Soft: disk, Hard: disk },
    ],
    ...(!readOnlyRoot && engine.diskQuota && { StorageOpt: { size: String(disk) } }),
  };
}

const mostDefaultCpus = 2;

/** The engine refuses more processors than it has, and any limit where it cannot enforce one. */
function defaultCpus({ cpus }: ContainerFacts["engine"]): number | undefined {
  return cpus === undefined ? undefined : Math.min(mostDefaultCpus, cpus);
}

/** The library's types do not know all that the engine does. */
type HostConfig = Docker.HostConfig & { CgroupnsMode: "private" };
type BindMount = Docker.MountSettings & {
  BindOptions: { Propagation: "rprivate"; ReadOnlyForceRecursive?: boolean };
};

/** The engine's own AppArmor profile applies because nothing here takes it away. */
const boundary: HostConfig = {
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges:true", seccompOption],
  Privileged: false,
  IpcMode: "private",
  CgroupnsMode: "private",
  Init: true,
  PublishAllPorts: false,
  RestartPolicy: { Name: "no" },
  // Its state is read after its end; then we remove it ourselves.
  AutoRemove: false,
  LogConfig: { Type: "local", Config: { "max-size": "10m", "max-file": "2" } },
};

/**
 * Half of the memory each, against which its pages count: who fills one is told that it is full
 * and not killed. Programs may be run from there, as from the workspace: package managers do.
 */
function tmpfs(
  { tmpfs: more, memory }: DockerConfig,
  { uid, gid }: ContainerUser,
): Record<string, string> {
  const size = Math.floor(memory / 2);
  const shared = `rw,exec,nosuid,nodev,mode=1777,size=${size}`;
  const own = `rw,exec,nosuid,nodev,mode=0700,uid=${uid},gid=${gid},size=${size}`;
  const places = more.map((path) => [path, shared] as const);
  return { "/tmp": shared, [inside.home]: own, ...Object.fromEntries(places) };
}

function bind({ source, target, readOnly, recursive }: Mount): BindMount {
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
