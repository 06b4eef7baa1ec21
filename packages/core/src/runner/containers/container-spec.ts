import { reservedVariables } from "@herdctl/config";
import type Docker from "dockerode";
import { type ContainerIdentity, containerName, labelsOf } from "../../docker/container-labels.ts";
import type { ContainerUser, DockerConfig } from "../../docker/docker-config.ts";
import type { EngineFacts } from "../../docker/engine.ts";
import { type Mount, toContainerPath } from "../../docker/mounts.ts";
import { containerPaths, forwarderUrl } from "../../lib/container-layout.ts";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import { gitVariables } from "./container-folders.ts";
import { seccompOption } from "./seccomp-profile.ts";

interface ContainerSpecInput {
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
      Mounts: mounts.map(toMount),
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

function toMount({ source, target, readOnly, recursive, isVolume }: Mount): Docker.MountSettings {
  if (isVolume) return { Type: "volume", Source: source, Target: target, ReadOnly: readOnly };
  const bindMount: BindMount = {
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: {
      Propagation: "rprivate",
      ...(recursive && { ReadOnlyForceRecursive: true }),
    },
  };
  return bindMount;
}

/**
 * A run's environment adapted to a container: without variables that describe the host, but with the
 * variables of the agent's configuration, even if they have the same names.
 */
export function buildContainerEnvironment(
  { env, agent }: Pick<ExecuteOptions, "env" | "agent">,
  config: Pick<DockerConfig, "env">,
  mounts: readonly Mount[],
): Record<string, string> {
  const forwarded = Object.entries(env).filter(([name]) =>
    /* defence: container-variables */ isForwarded(name),
  );
  const agentVariables = Object.entries({ ...agent.env, ...config.env }).filter(
    ([name]) => !reservedNames.has(name),
  );
  const sockets = socketVariables.flatMap((name) => {
    const path = env[name] && toContainerPath(env[name], mounts);
    return path ? [[name, path] as const] : [];
  });
  return {
    LANG: "C.UTF-8",
    ...Object.fromEntries(forwarded),
    ...Object.fromEntries(agentVariables),
    ...Object.fromEntries(sockets),
    ...(env.HERDCTL_PROXY_SOCKET && proxyVariables),
    HOME: containerPaths.home,
    CLAUDE_CONFIG_DIR: containerPaths.configDir,
    ...gitVariables,
  };
}

/** Excludes credentials of the host, except the one that `auth: env` passes on purpose. */
function isForwarded(name: string): boolean {
  const isSecret = /^CLAUDE_CODE_.*(_TOKEN|_KEY|_CERT|PASSPHRASE|_DESCRIPTOR)$/.test(name);
  return !hostOnlyVariables.has(name) && (!isSecret || name === "CLAUDE_CODE_OAUTH_TOKEN");
}

const socketVariables = ["ANTHROPIC_UNIX_SOCKET", "HERDCTL_PROXY_SOCKET"];
const reservedNames = new Set<string>(reservedVariables);

const hostOnlyVariables = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "CLAUDE_CONFIG_DIR", "IS_SANDBOX"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SSH_AUTH_SOCK"],
  ...socketVariables,
]);

/** Connections within the container bypass the proxy. */
const noProxyHosts = "127.0.0.1,localhost";
const proxyVariables = {
  HTTP_PROXY: forwarderUrl,
  HTTPS_PROXY: forwarderUrl,
  http_proxy: forwarderUrl,
  https_proxy: forwarderUrl,
  NO_PROXY: noProxyHosts,
  no_proxy: noProxyHosts,
};
